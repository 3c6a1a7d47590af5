// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Columns that stored items may have although the table no longer declares them.
///
/// Reads omit their values and upserts keep them, so that the values are available if a column is declared again.
struct HiddenColumns: Sendable {
    private var columns: [String: Columns] = [:]

    private struct Columns {
        let declared: FieldNames
        let hidden: FieldNames
    }

    /// Creates a set without hidden columns.
    init() {}

    /// Adds a table; ignores it when it has no hidden columns.
    mutating func add(_ table: SyncTableDefinition, known: [String]) {
        let hidden = known.filter { table.column(named: $0) == nil }
        guard !hidden.isEmpty else { return }
        columns[table.name] = Columns(
            declared: FieldNames(table.columns.map(\.name)), hidden: FieldNames(hidden))
    }

    /// The columns to read, or `nil` to read all of them.
    func declaredNames(in table: String) -> FieldNames? { columns[table]?.declared }

    /// The columns whose values an upsert keeps, or `nil` when there are none.
    func hiddenNames(in table: String) -> FieldNames? { columns[table]?.hidden }
}
