// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The properties that the server maintains for every row.
public struct SystemProperties: Sendable, Hashable {
    /// When the server created the row, by the server's clock.
    public var createdAt: Timestamp?
    /// When the server last changed the row, by the server's clock.
    public var updatedAt: Timestamp?
    /// The row's version for optimistic concurrency: opaque, never parsed or ordered. `nil` until the server has the row.
    public var version: String?
    /// Whether the row is a tombstone. Items of a local store never are.
    public var deleted: Bool
    /// Versions of the row that this client's own pushes have replaced since the last change of another client, oldest
    /// first, at most ``maxSupersededVersions``.
    ///
    /// An edit based on one of them is not a conflict, because only this client has changed the row since.
    public var supersededVersions: [String]
    /// The values of the server's row in columns that the app does not sync: undeclared columns, and columns with the
    /// name of a local-only column.
    ///
    /// Stores keep them unchanged. Filters, orders and the subscripts of ``Item`` do not see them. A dialect whose updates
    /// replace the whole row sends them back; the others never send them. The name `$lost` is the store's own: it lists
    /// columns whose values the app has removed from its own table.
    public var undeclared: [String: ItemValue]

    /// The maximum number of superseded versions.
    public static let maxSupersededVersions = 8

    /// The names of the system properties, which no column of a table may have.
    public static let names = ["createdAt", "updatedAt", "version", "deleted"]

    /// Makes system properties. The defaults are those of a row that the server does not have.
    public init(
        createdAt: Timestamp? = nil, updatedAt: Timestamp? = nil, version: String? = nil,
        deleted: Bool = false, supersededVersions: [String] = [], undeclared: [String: ItemValue] = [:]
    ) {
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.deleted = deleted
        self.supersededVersions = supersededVersions
        self.undeclared = undeclared
    }
}
