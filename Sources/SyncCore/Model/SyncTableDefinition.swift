// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The name and columns of one table, as the app declares them.
///
/// ```swift
/// enum TodoItem {
///     static let text = SyncColumn("text", .text)
///     static let complete = SyncColumn("complete", .bool, isIndexed: true)
///     static let definition = SyncTableDefinition("TodoItem", columns: [text, complete])
/// }
/// ```
///
/// Every table has an id and system properties, which are not declared. A store validates the names when it opens: see
/// ``TableCatalog``.
public struct SyncTableDefinition: Sendable, Hashable {
    /// The table's name, here and on the server.
    public let name: String
    /// The declared columns, in order of declaration.
    public let columns: [SyncColumn]
    /// The tables that rows of this one refer to: a push inserts parents before their children, and deletes them
    /// afterwards. A row refers to a parent by a text field with the parent's id; it is not sent while the insert of that
    /// parent is pending.
    public let parents: [String]
    /// The positions of the columns in rows.
    package let layout: FieldLayout

    /// Declares a table.
    public init(_ name: String, columns: [SyncColumn], parents: [String] = []) {
        self.name = name
        self.columns = columns
        self.parents = parents
        layout = FieldLayout(columns.map(\.name))
    }

    /// The declared column of that name, or `nil`. Names are compared byte for byte.
    public func column(named name: String) -> SyncColumn? {
        position(ofColumn: name).map { columns[$0] }
    }

    /// The position of the declared column of that name, or `nil`. Names are compared byte for byte.
    func position(ofColumn name: String) -> Int? {
        layout.position(ofBytesOf: name)
    }

    /// The type of a declared column, the id or a system property; `nil` for any other name.
    @_spi(StoreAuthor) public func type(ofColumn name: String) -> ColumnType? {
        switch name {
        case "id", "version": .text
        case "createdAt", "updatedAt": .date
        case "deleted": .bool
        default: column(named: name)?.type
        }
    }
}

/// One declared column of a table.
public struct SyncColumn: Sendable, Hashable {
    /// The column's name: an ASCII letter or underscore, then letters, digits and underscores; at most 128.
    public let name: String
    /// The type of the column's values. Every column may be null.
    public let type: ColumnType
    /// Whether the store keeps an index on the column, if it supports indexes.
    public let isIndexed: Bool
    /// Whether the column exists on this device only: it is never sent, and a pull does not change it. If a later version of
    /// the app declares the column without this, the server's values replace the device's, also with null.
    public let isLocalOnly: Bool

    /// Declares a column.
    public init(_ name: String, _ type: ColumnType, isIndexed: Bool = false, isLocalOnly: Bool = false) {
        self.name = name
        self.type = type
        self.isIndexed = isIndexed
        self.isLocalOnly = isLocalOnly
    }
}

/// The type of a column's values. Every column may be null.
public enum ColumnType: String, Sendable, Hashable, CaseIterable {
    /// True or false.
    case bool
    /// A 64-bit integer.
    case integer
    /// A finite double.
    case double
    /// Text.
    case text
    /// An instant; RFC 3339 text on the wire.
    case date
    /// Binary data; base64 text on the wire.
    case data
    /// Any JSON value: lists, objects and scalars alike. Filters can only test it for null.
    case json
}
