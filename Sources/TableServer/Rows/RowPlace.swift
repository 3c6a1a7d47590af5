// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Where a server's rows are.
enum RowPlace: Sendable, Hashable {
    case memory
    case file(String)
    case database(RowDatabase)
}

/// A database that another module opens, so that this module does not depend on the database's client library.
package struct RowDatabase: Sendable {
    package typealias Opening =
        @Sendable ([TableServer.Table], RowStampSettings) async throws(TableServerError) -> any RowStorage

    /// Databases with the same identity are equal. It can contain a password.
    private let identity: String
    private let opening: Opening

    /// - Parameter opening: opens or creates the database, and the tables.
    package init(identity: String, opening: @escaping Opening) {
        self.identity = identity
        self.opening = opening
    }

    func open(
        tables: [TableServer.Table], settings: RowStampSettings
    ) async throws(TableServerError) -> any RowStorage {
        try await opening(tables, settings)
    }
}

extension RowDatabase: Hashable {
    package static func == (left: RowDatabase, right: RowDatabase) -> Bool {
        left.identity == right.identity
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(identity) }
}

/// Does not reveal the identity.
extension RowDatabase: CustomStringConvertible, CustomReflectable {
    package var description: String { "a database" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
