// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A declared table and its SQL statements.
final class ItemTable: Sendable {
    /// The writers of a table.
    enum Origin {
        /// The store alone: its strings and dates have one form and compare as bytes.
        case store
        /// The app as well, with the constraints of its table.
        case app(AppTable)
    }

    let definition: SyncTableDefinition
    /// Whether the app writes to the table as well: dates may have other forms, and columns another collation.
    let isShared: Bool
    /// The table's name as an SQL identifier.
    let name: String
    /// Inserts an item unless its id exists, which an app's table does not check. Parameters are the columns of
    /// ``ItemColumns``, then the declared ones.
    let insert: SQLText
    /// Inserts or replaces an item; in an app's table, inserts it.
    let upsert: SQLText
    /// Replaces an existing item of an app's table; `nil` in the store's own. SQLite would refuse the upsert of an existing row
    /// if it has required columns that only the app fills, and would change the conflict clauses of the app's triggers.
    let update: SQLText?
    /// Deletes an item by its id.
    let delete: SQLText
    /// Reads an item by its id.
    let find: SQLText
    /// Returns a row for an existing id.
    let findID: SQLText
    /// Reads the field flags of an item by its id.
    let findFlags: SQLText
    /// `SELECT … FROM …` with all columns.
    private let selectAll: String
    private let knownSchema: Mutex<KnownSchema>

    /// What is known of the SQL table.
    private struct KnownSchema {
        /// The version of the database's schema; `nil` if it was not read.
        var version: Int64?
        var hiddenColumns: Set<String>
    }

    /// - Parameter existing: the columns of the SQL table.
    init(_ definition: SyncTableDefinition, origin: Origin, columns existing: [String] = []) {
        self.definition = definition
        name = definition.name.quoted
        knownSchema = Mutex(KnownSchema(hiddenColumns: Self.undeclared(existing, in: definition)))
        let columns = Self.quotedNames(definition.columns)
        let names = columns.joined(separator: ",")
        switch origin {
        case .store:
            (isShared, update) = (false, nil)
            let values = Array(repeating: "?", count: columns.count).joined(separator: ",")
            let changes = columns.dropFirst().map { "\($0)=excluded.\($0)" }.joined(separator: ",")
            let inserting = "INSERT INTO \(name)(\(names)) VALUES(\(values)) ON CONFLICT(\"id\") "
            insert = SQLText(inserting + "DO NOTHING")
            upsert = SQLText(inserting + "DO UPDATE SET \(changes)")
        case .app(let table):
            isShared = true
            let defaults = (ItemColumns.all.map(\.name) + definition.columns.map(\.name)).map {
                table.defaults[$0]
            }
            let values = defaults.map { $0.map { "ifnull(?,\($0))" } ?? "?" }.joined(separator: ",")
            let assignments = zip(columns, defaults).enumerated().dropFirst().map { index, column in
                let value = "?\(index + 1)"
                return "\(column.0)=\(column.1.map { "ifnull(\(value),\($0))" } ?? value)"
            }.joined(separator: ",")
            // A constraint that replaces or ignores rows would lose them without an error. The clause also applies to triggers.
            let clause = table.hasConflictClause ? " OR ABORT" : ""
            update = SQLText("UPDATE\(clause) \(name) SET \(assignments) WHERE \"id\"=?1")
            insert = SQLText("INSERT\(clause) INTO \(name)(\(names)) VALUES(\(values))")
            upsert = insert
        }
        delete = SQLText("DELETE FROM \(name) WHERE \"id\"=?")
        selectAll = Self.select(columns, from: name)
        find = SQLText(selectAll + " WHERE \"id\"=?")
        findID = SQLText("SELECT 1 FROM \(name) WHERE \"id\"=?")
        findFlags = SQLText("SELECT \"$marks\" FROM \(name) WHERE \"id\"=?")
    }

    private static let schemaVersion = SQLText("PRAGMA schema_version")

    /// The columns of the SQL table that are not declared.
    var hiddenColumns: Set<String> { knownSchema.withLock { $0.hiddenColumns } }

    /// Reads the columns of the SQL table if the schema has changed: another opening of a shared file may have added some.
    func updateHiddenColumns(on connection: Connection) throws {
        let version = try connection.cached(Self.schemaVersion).firstRow { $0.int(at: 0) }
        guard version != knownSchema.withLock({ $0.version }) else { return }
        let columns = try AppTable.columns(of: definition.name, on: connection).map(\.name)
        let hidden = Self.undeclared(columns, in: definition)
        knownSchema.withLock { $0 = KnownSchema(version: version, hiddenColumns: hidden) }
    }

    private static func undeclared(_ columns: [String], in definition: SyncTableDefinition) -> Set<String> {
        Set(columns).subtracting(ItemColumns.all.map(\.name) + definition.columns.map(\.name))
    }

    /// The error of a change that a trigger of the app ignores.
    ///
    /// - Parameter id: `nil` for one of several items.
    func ignoredChange(of id: String?) -> StoreError {
        let item = id.map { "the item '\($0)'" } ?? "an item"
        return StoreError(
            .schemaMismatch,
            "The table '\(definition.name)' ignores the change of \(item); remove the trigger with RAISE(IGNORE)."
        )
    }

    /// All declared columns.
    var columns: SelectedColumns { SelectedColumns(definition.columns, definition.layout) }

    /// Returns the declared columns of the selection, and the `SELECT … FROM …` that reads them.
    func select(_ selection: [String]) -> (columns: SelectedColumns, sql: String) {
        if selection.isEmpty { return (columns, selectAll) }
        let columns = definition.columns.filter { selection.contains($0.name) }
        let selected = SelectedColumns(columns, FieldLayout(columns.map(\.name)))
        return (selected, Self.select(Self.quotedNames(columns), from: name))
    }

    /// Returns the quoted names of the system columns, then of the given ones.
    private static func quotedNames(_ columns: [ColumnDefinition]) -> [String] {
        (ItemColumns.all.map(\.name) + columns.map(\.name)).map(\.quoted)
    }

    private static func select(_ columns: [String], from table: String) -> String {
        "SELECT \(columns.joined(separator: ",")) FROM \(table)"
    }
}

/// Declared columns that a statement reads, and the positions of their values in items.
struct SelectedColumns {
    let definitions: [ColumnDefinition]
    let layout: FieldLayout

    fileprivate init(_ definitions: [ColumnDefinition], _ layout: FieldLayout) {
        (self.definitions, self.layout) = (definitions, layout)
    }
}

/// A declared column. GRDB also has a type `Column`.
typealias ColumnDefinition = SyncCore.SyncColumn
