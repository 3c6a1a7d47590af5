// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Logging
import SyncCore

extension TableServer {
    /// The settings of a server. The defaults are those of the Azure Mobile Apps server for Node.js, which tests imitate,
    /// except ``restartsVersions`` and ``acceptsNestedValues``.
    public struct Configuration: Sendable {
        /// The address to listen on. On a loopback address, a request of a browser whose `Host` is another name gets status
        /// 403, unless a proxy has added `Via`: a site can let its own name resolve to this machine.
        public var host = "127.0.0.1"
        /// The port to listen on; with 0 the system chooses one.
        public var port: Int
        /// The server's tables. Requests for others get status 404.
        public var tables: [Table]
        /// Where the rows are stored.
        public var storage: Storage
        /// How tokens of users are verified; `nil` to ignore them. Tables whose permissions need a user need it.
        public var authentication: Authentication?
        /// The maximum number of rows in one response, also when the client asks for more.
        public var pageSize = 50
        /// The maximum `$top`; a greater one is refused with 400.
        public var maxTop = 1000
        /// The maximum size of a request body in bytes; that of a PUT, which has a whole row, is eleven times larger, and that of
        /// a row's fields ten times.
        public var maxBodySize = 102_400
        /// How many requests a second each user may send, and without users, each address; more get status 429. `nil` for no
        /// limit. Behind a proxy all clients have its address, so that the proxy must limit those without users.
        public var maxRequestsPerSecond: Int?
        /// How many change feeds may be open; others get status 503. Those of clients without a token may be half of them, if the
        /// server verifies tokens.
        public var maxFeeds = 1000
        /// How many change feeds each user may have open; others get status 503.
        public var maxFeedsPerUser = 100
        /// The fraction digits of `createdAt` and `updatedAt` in responses, 0 to 9.
        ///
        /// With fewer than 3, or fewer than the server stores, different changes can show the same `updatedAt`, as on some
        /// servers that tests imitate. A client no longer reads the rows of an `updatedAt` again when the `Date` of a
        /// response is more than a second after it. A pull can then miss a change that gets this `updatedAt` afterwards:
        /// if its commit takes a second, if the clocks of two servers of the database differ by a second, or if the clock
        /// was set back while no server ran. A change feed can miss such a change of another server.
        public var fractionDigits = 3
        /// The fraction digits that the server stores and filters by; `nil` for as many as ``fractionDigits``. With more, a
        /// pull can miss a change, as described there.
        public var keptFractionDigits: Int?
        /// The body of the response to an insert of an existing id. In dialect ``Dialect/v3`` it is always the row.
        public var insertConflictBody = InsertConflictBody.echo
        /// Whether the versions of a row that is deleted for good and inserted again start again, as on the modelled
        /// server. A client cannot tell such a row from the earlier one by its version.
        public var restartsVersions = false
        /// Whether fields may contain objects and arrays; if not, such requests get status 500, as on the modelled
        /// server.
        public var acceptsNestedValues = true
        /// Whether requests must carry `ZUMO-API-VERSION`, except those of dialect ``Dialect/v1``.
        public var requiresAPIVersion = true
        /// The dialect of requests without `ZUMO-API-VERSION`, if they need none.
        public var dialectWithoutVersion = Dialect.v2
        /// Whether connections stay open between requests.
        public var keepsConnections = true
        /// A connection is closed when no byte of a request has arrived for this time, or the client has accepted no byte of a
        /// response that waits to be sent; `nil` for no limit. The time in which the server makes a response, such as a change
        /// feed, is not limited. A client or proxy that keeps connections must close idle ones earlier.
        public var idleTimeout: Duration?
        /// Whether ``TableServer/requests`` contains the requests. A server that runs for long turns it off, because the
        /// list grows with each request.
        public var recordsRequests = true
        /// Whether `GET /metrics` returns the numbers and durations of requests in the text format of Prometheus. They need no
        /// user, and contain names of tables but no values.
        public var showsMetrics = false
        /// Whether a browser on this machine can look at the tables, the latest rows and the latest requests, at the
        /// server's URL. The pages show the rows of all users, so ``host`` must be a loopback address.
        public var showsPage = false
        /// The limits on the times of reads and writes of rows in SQLite. PostgreSQL has its own.
        package var sqliteLimits = SQLiteTimeLimits()
        /// The clock for `createdAt` and `updatedAt`.
        public var clock: ServerClock
        /// Generates the id of a row that is inserted without one.
        public var makeID: @Sendable () -> String = { UUID().uuidString.lowercased() }
        /// The server's logger. The default discards all messages. Each request is a message of level `info`, without ids,
        /// queries and fields.
        public var logger = Logger(label: "TableServer") { _ in SwiftLogNoOpLogHandler() }

        /// Creates a configuration.
        public init(
            port: Int = 0, tables: [Table], storage: Storage = .memory, clock: ServerClock = .system()
        ) {
            self.port = port
            self.tables = tables
            self.storage = storage
            self.clock = clock
        }
    }

    /// A table of the server.
    public struct Table: Sendable, Hashable {
        /// The name, compared without regard to case.
        public let name: String
        /// Whether a delete leaves a tombstone, which `__includeDeleted` includes in lists.
        public let softDelete: Bool
        /// Who may do each operation.
        public let permissions: Permissions
        /// Whether a row belongs to the user who inserted it. To other users, also to administrators, it does not exist:
        /// they can insert a row with the same id. Only the names of columns are common to all users.
        public let isPerUser: Bool
        /// The columns, apart from the id and the system properties, in the spelling that rows have. A write that names
        /// another column is refused with status 400.
        ///
        /// With `nil`, which is meant for trying and for tests, a column appears with its first value, from any client: its
        /// spelling then applies to all users, and new columns are refused when there are 2000.
        public let columns: [String]?

        /// Creates a table. A table with `isPerUser` needs permissions other than ``Permission/anonymous``.
        public init(
            _ name: String, softDelete: Bool = true, permissions: Permissions = Permissions(.anonymous),
            isPerUser: Bool = false, columns: [String]? = nil
        ) {
            self.name = name
            self.softDelete = softDelete
            self.permissions = permissions
            self.isPerUser = isPerUser
            self.columns = columns
            key = name.asciiLowercased
        }

        package let key: String
    }

    /// Where the rows are stored.
    public struct Storage: Sendable, Hashable {
        let place: RowPlace

        /// In a SQLite database in memory, until the server stops.
        public static let memory = Storage(place: .memory)

        /// In a SQLite file, which is created if it does not exist. Several servers on one machine can use it at the same
        /// time.
        public static func file(_ path: String) -> Storage { Storage(place: .file(path)) }

        /// In a database of another module.
        package static func database(_ database: RowDatabase) -> Storage {
            Storage(place: .database(database))
        }
    }

    /// The body of the response to an insert of an existing id, which has status 409.
    public enum InsertConflictBody: Sendable, Hashable {
        /// The item of the request, with a weak `ETag` that is not a version.
        case echo
        /// The server's row, with its version as `ETag`.
        case row
    }
}

extension TableServer.Configuration {
    func table(named name: String) -> TableServer.Table? {
        tables.first { $0.name.hasSameName(as: name) }
    }

    /// - Throws: ``TableServerError`` that names the first invalid setting.
    func validate() throws(TableServerError) {
        if showsPage, !host.isLoopbackHost {
            throw TableServerError(
                .configuration,
                "The setting 'showsPage' shows all rows, so the setting 'host' must be 127.0.0.1, not '\(host)'."
            )
        }
        if tables.isEmpty { throw TableServerError(.configuration, "A server needs at least one table.") }
        var keys: Set<String> = []
        for table in tables {
            guard table.name.isTableOrColumnName else {
                throw TableServerError(
                    .configuration, "The table name '\(table.name)' is invalid: use letters, digits and '_'.")
            }
            if let suffix = RowTable.reservedSuffixes.first(where: table.key.hasSuffix) {
                throw TableServerError(
                    .configuration,
                    "The table name '\(table.name)' cannot end with '\(suffix)', which databases use for indexes."
                )
            }
            guard keys.insert(table.key).inserted else {
                throw TableServerError(.configuration, "The table '\(table.name)' is configured twice.")
            }
            try table.validateColumns()
            try validatePermissions(of: table)
        }
        for (name, value, range) in [
            ("port", port, 0...65_535), ("pageSize", pageSize, 1...Int.max), ("maxTop", maxTop, 1...Int.max),
            ("maxBodySize", maxBodySize, 1...Int.max),
            ("maxRequestsPerSecond", maxRequestsPerSecond ?? 1, 1...1_000_000),
            ("maxFeeds", maxFeeds, 1...Int.max), ("maxFeedsPerUser", maxFeedsPerUser, 1...Int.max),
            ("fractionDigits", fractionDigits, 0...9),
            ("keptFractionDigits", keptFractionDigits ?? fractionDigits, min(fractionDigits, 9)...9),
        ] where !range.contains(value) {
            let bounds =
                range.upperBound == .max
                ? "at least \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
            throw TableServerError(
                .configuration, "The setting '\(name)' must be \(bounds), not \(value).")
        }
    }

    private func validatePermissions(of table: TableServer.Table) throws(TableServerError) {
        if authentication == nil, table.permissions.all.contains(where: { $0 != .anonymous }) {
            throw TableServerError(
                .configuration,
                "The table '\(table.name)' requires users: use the setting 'authentication' to verify their tokens."
            )
        }
        if table.isPerUser, table.permissions.all.contains(.anonymous) {
            throw TableServerError(
                .configuration,
                "The rows of the table '\(table.name)' belong to users, so no operation can be anonymous.")
        }
    }
}
