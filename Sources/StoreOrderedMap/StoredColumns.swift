// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The columns and indexes that the map has. They may differ from those that this opening declares: an earlier version
/// of the app, or another opening, may have declared others.
///
/// Reads omit the values of hidden columns, which are not declared, and upserts keep them, so that they are available if
/// a column is declared again. Writes maintain all indexes of the map; queries use those of columns that are declared
/// as indexed.
struct StoredColumns: Sendable {
    private var tables: [String: Table] = [:]

    /// Creates a description without tables.
    init() {}

    /// Adds a table.
    ///
    /// - Parameter hidesColumns: whether columns that are not declared are hidden.
    mutating func add(_ table: SyncTableDefinition, known: [KnownColumn], hidesColumns: Bool = true) {
        tables[table.name] = Table(table, known: known, hidesColumns: hidesColumns)
    }

    subscript(table: String) -> Table? { tables[table] }

    /// The columns and indexes of one table.
    final class Table: Sendable {
        /// The table as it is declared, with an indexed column only where the map has the index.
        let definition: SyncTableDefinition
        /// All indexes of the table in the map.
        let indexes: [ColumnIndex]
        /// The columns to read, or `nil` to read all of them.
        let layout: FieldLayout?
        /// The columns of an item that its replacement depends on, hidden and indexed ones; `nil` when there are none.
        let replacedLayout: FieldLayout?
        private let hiddenNames: [String]

        fileprivate init(_ table: SyncTableDefinition, known: [KnownColumn], hidesColumns: Bool) {
            let hidden = known.map(\.name).filter { hidesColumns && table.column(named: $0) == nil }
            let indexed = known.indexedNames
            let lacksIndex = table.columns.contains { $0.isIndexed && !indexed.contains($0.name) }
            definition = lacksIndex ? table.indexing(only: indexed) : table
            indexes = known.compactMap(\.index).map { ColumnIndex($0, of: table.name) }
            layout = hidesColumns ? table.layout : nil
            let replaced = indexed.union(hidden)
            replacedLayout = replaced.isEmpty ? nil : FieldLayout(replaced.sorted())
            hiddenNames = hidden
        }

        /// Returns the item with the values that the item it replaces has in hidden columns.
        func keepingHiddenFields(of old: Item, in item: Item) -> Item {
            var item = item
            for name in hiddenNames where item.content[name] == nil { item.content[name] = old.content[name] }
            return item
        }
    }
}

extension SyncTableDefinition {
    fileprivate func indexing(only names: Set<String>) -> SyncTableDefinition {
        let columns = columns.map { column in
            SyncColumn(
                column.name, column.type, isIndexed: column.isIndexed && names.contains(column.name),
                isLocalOnly: column.isLocalOnly)
        }
        return SyncTableDefinition(name, columns: columns, parents: parents)
    }
}
