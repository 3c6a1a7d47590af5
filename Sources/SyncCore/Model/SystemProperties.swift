// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What the server keeps about a row beside its fields.
public struct SystemProperties: Sendable, Hashable {
    /// When the server created the row, by the server's clock.
    public var createdAt: Timestamp?
    /// When the server last changed the row, by the server's clock.
    public var updatedAt: Timestamp?
    /// The row's revision: opaque, never parsed and never ordered. `nil` until the server has seen the row.
    public var version: String?
    /// Whether the server's row is a tombstone. Rows of a local store never are.
    public var deleted: Bool
    /// Versions of this row that this client's own pushes have replaced since it last saw somebody else's change,
    /// oldest first, at most ``maxSupersededVersions``.
    ///
    /// An edit that was begun on one of them is no conflict: all that happened since is our own.
    public var supersededVersions: [String]
    /// What the server's row has in columns that the app does not sync: undeclared ones, and those whose name is that
    /// of a local-only column.
    ///
    /// They are kept as they came, and stores keep them. They are no fields: filters, orders and subscripts
    /// do not see them. A dialect whose updates replace the whole row sends them back; the others never send them.
    public var undeclared: [String: ItemValue]

    /// How many superseded versions are remembered.
    public static let maxSupersededVersions = 8

    /// The names of the system properties, which no column of a table may have.
    public static let names = ["createdAt", "updatedAt", "version", "deleted"]

    /// Makes system properties; without arguments, those of a row that the server has not seen.
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
