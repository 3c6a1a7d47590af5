// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A declared table and the statements on it.
final class ItemTable: Sendable {
    let definition: TableDefinition
    /// The table's name as an SQL identifier.
    let name: String
    /// Adds an item unless its id is there; the columns are those of ``ItemColumns``, then the declared ones.
    let insert: SQLText
    /// Adds or replaces an item.
    let upsert: SQLText
    /// Deletes the item of an id.
    let delete: SQLText
    /// Finds the item of an id.
    let find: SQLText
    /// The beginning of a statement that reads all columns.
    private let selectAll: String

    init(_ definition: TableDefinition) {
        self.definition = definition
        name = definition.name.quoted
        let columns = Self.quotedNames(definition.columns)
        let values = Array(repeating: "?", count: columns.count).joined(separator: ",")
        let changes = columns.dropFirst().map { "\($0)=excluded.\($0)" }.joined(separator: ",")
        let inserting = "INSERT INTO \(name)(\(columns.joined(separator: ","))) VALUES(\(values)) "
        insert = SQLText(inserting + "ON CONFLICT(\"id\") DO NOTHING")
        upsert = SQLText(inserting + "ON CONFLICT(\"id\") DO UPDATE SET \(changes)")
        delete = SQLText("DELETE FROM \(name) WHERE \"id\"=?")
        selectAll = Self.select(columns, from: name)
        find = SQLText(selectAll + " WHERE \"id\"=?")
    }

    /// The declared columns of that selection, and the beginning of a statement that reads them.
    func select(_ selection: [String]) -> (columns: [ColumnDefinition], sql: String) {
        if selection.isEmpty { return (definition.columns, selectAll) }
        let columns = definition.columns.filter { selection.contains($0.name) }
        return (columns, Self.select(Self.quotedNames(columns), from: name))
    }

    /// The columns that every table has, then those.
    private static func quotedNames(_ columns: [ColumnDefinition]) -> [String] {
        (ItemColumns.all.map(\.name) + columns.map(\.name)).map(\.quoted)
    }

    private static func select(_ columns: [String], from table: String) -> String {
        "SELECT \(columns.joined(separator: ",")) FROM \(table)"
    }
}

/// A declared column; GRDB has a type of the same name.
typealias ColumnDefinition = SyncCore.Column
