// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The columns that stored items may have although their table declares them no more.
///
/// Items are read without them, and keep their values when they are stored again, so that the values are there when a
/// column is declared again.
struct HiddenColumns: Sendable {
    private var columns: [String: Columns] = [:]

    private struct Columns {
        let declared: FieldNames
        let hidden: FieldNames
    }

    /// No hidden columns, in any table.
    init() {}

    /// Adds a table. One without hidden columns costs nothing later.
    mutating func add(_ table: SyncTableDefinition, known: [String]) {
        let hidden = known.filter { table.column(named: $0) == nil }
        guard !hidden.isEmpty else { return }
        columns[table.name] = Columns(
            declared: FieldNames(table.columns.map(\.name)), hidden: FieldNames(hidden))
    }

    /// The columns to read; `nil` for all that an item has.
    func declaredNames(in table: String) -> FieldNames? { columns[table]?.declared }

    /// The columns whose values stay when an item is replaced; `nil` when there are none.
    func hiddenNames(in table: String) -> FieldNames? { columns[table]?.hidden }
}
