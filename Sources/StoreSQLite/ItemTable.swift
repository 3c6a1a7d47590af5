// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A declared table and the statements on it.
final class ItemTable: Sendable {
    /// Who writes to a table.
    enum Origin {
        /// The store alone: texts are as it writes them, and compare as their bytes do.
        case store
        /// The app too, with its own constraints.
        case app(AppTable)
    }

    let definition: SyncTableDefinition
    /// Whether the app writes to the table too: its dates may have other forms, and its texts another collation.
    let isShared: Bool
    /// The table's name as an SQL identifier.
    let name: String
    /// Adds an item unless its id is there; the columns are those of ``ItemColumns``, then the declared ones.
    let insert: SQLText
    /// Adds or replaces an item.
    let upsert: SQLText
    /// Replaces an item that is there; `nil` unless the table has columns that only its app fills, so that an insert
    /// would be refused although the row exists.
    let update: SQLText?
    /// Deletes the item of an id.
    let delete: SQLText
    /// Finds the item of an id.
    let find: SQLText
    /// The beginning of a statement that reads all columns.
    private let selectAll: String

    init(_ definition: SyncTableDefinition, origin: Origin) {
        self.definition = definition
        name = definition.name.quoted
        let columns = Self.quotedNames(definition.columns)
        var values = Array(repeating: "?", count: columns.count).joined(separator: ",")
        switch origin {
        case .store: (isShared, update) = (false, nil)
        case .app(let table):
            isShared = true
            values = (ItemColumns.all.map(\.name) + definition.columns.map(\.name)).map { name in
                table.defaults[name].map { "ifnull(?,(\($0)))" } ?? "?"
            }.joined(separator: ",")
            let assignments = columns.enumerated().dropFirst().map { index, column in
                "\(column)=?\(index + 1)"
            }.joined(separator: ",")
            update =
                table.hasColumnsOfItsOwn
                ? SQLText("UPDATE \(name) SET \(assignments) WHERE \"id\"=?1") : nil
        }
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
typealias ColumnDefinition = SyncCore.SyncColumn
