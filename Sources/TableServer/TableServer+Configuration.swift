// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Logging

extension TableServer {
    /// How a server behaves; the defaults are those of the server it models.
    public struct Configuration: Sendable {
        /// The address to listen on.
        public var host = "127.0.0.1"
        /// The port to listen on; 0 lets the system choose one.
        public var port: Int
        /// The tables there are; all others are answered with 404.
        public var tables: [Table]
        /// Where rows are kept.
        public var storage: Storage
        /// The most rows in one answer, whatever the client asks for.
        public var pageSize = 50
        /// The greatest `$top` that is not refused.
        public var maxTop = 1000
        /// The largest request body in bytes.
        public var maxBodySize = 102_400
        /// How many fraction digits of `createdAt` and `updatedAt` clients see, 0 to 9.
        public var fractionDigits = 3
        /// How many fraction digits the server keeps and filters by, when they are not as many as it shows.
        public var keptFractionDigits: Int?
        /// What an insert of an id that exists is answered with.
        public var insertConflictBody = InsertConflictBody.echo
        /// Whether fields may hold objects and arrays; if not they are answered with 500, as on the modelled server.
        public var acceptsNestedValues = true
        /// Whether requests must carry `ZUMO-API-VERSION: 2.0.x`.
        public var requiresAPIVersion = true
        /// Whether connections stay open between requests.
        public var keepsConnections = true
        /// What tells the time.
        public var clock: ServerClock
        /// Makes the id of a row that is inserted without one.
        public var makeID: @Sendable () -> String = { UUID().uuidString.lowercased() }
        /// Where the server logs; by default nowhere.
        public var logger = Logger(label: "TableServer") { _ in SwiftLogNoOpLogHandler() }

        /// Makes a configuration.
        public init(
            port: Int = 0, tables: [Table], storage: Storage = .memory, clock: ServerClock = .system()
        ) {
            self.port = port
            self.tables = tables
            self.storage = storage
            self.clock = clock
        }
    }

    /// A table that the server offers.
    public struct Table: Sendable, Hashable {
        /// The name; in URLs its case does not matter.
        public let name: String
        /// Whether a delete leaves a tombstone that `__includeDeleted` shows.
        public let softDelete: Bool

        /// Makes a table.
        public init(_ name: String, softDelete: Bool = true) {
            self.name = name
            self.softDelete = softDelete
        }

        var key: String { name.asciiLowercased }
    }

    /// Where rows are kept.
    public enum Storage: Sendable, Hashable {
        /// In memory, until the server stops.
        case memory
        /// In a SQLite file, which is created when it is missing; one server at a time may use it.
        case file(String)
    }

    /// What an insert of an id that exists is answered with, beside its status 409.
    public enum InsertConflictBody: Sendable, Hashable {
        /// The request's own item, with a weak `ETag` that is no version.
        case echo
        /// The server's row, with its version as `ETag`.
        case row
    }
}

extension TableServer.Configuration {
    func tableKey(of name: String) -> String? {
        let key = name.asciiLowercased
        return tables.contains { $0.key == key } ? key : nil
    }

    /// - Throws: ``TableServerError`` with a sentence about what makes no sense.
    func validate() throws(TableServerError) {
        if tables.isEmpty { throw TableServerError(.configuration, "A server needs at least one table.") }
        var keys: Set<String> = []
        for table in tables {
            guard table.name.isColumnName else {
                throw TableServerError(
                    .configuration, "The table name '\(table.name)' is not letters, digits and '_'.")
            }
            guard keys.insert(table.key).inserted else {
                throw TableServerError(.configuration, "The table '\(table.name)' is named twice.")
            }
        }
        for (name, value, range) in [
            ("port", port, 0...65_535), ("pageSize", pageSize, 1...Int.max), ("maxTop", maxTop, 1...Int.max),
            ("maxBodySize", maxBodySize, 1...Int.max), ("fractionDigits", fractionDigits, 0...9),
            ("keptFractionDigits", keptFractionDigits ?? fractionDigits, min(fractionDigits, 9)...9),
        ] where !range.contains(value) {
            throw TableServerError(.configuration, "'\(name)' cannot be \(value).")
        }
    }
}
