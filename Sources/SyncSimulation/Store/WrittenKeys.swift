// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a transaction has written, so that the checks of its commit read only that.
final class WrittenKeys {
    /// The rows whose items, operations or errors were written, in order.
    private(set) var rows: [RowKey] = []
    /// The tables in which any item may have been deleted.
    private(set) var tables: Set<String> = []

    /// Whether a value of the table config was written.
    private(set) var hasConfigValues = false

    /// Whether nothing was written.
    var isEmpty: Bool { rows.isEmpty && tables.isEmpty && !hasConfigValues }

    func insertConfigValue() { hasConfigValues = true }

    func insert(_ row: RowKey) { if !rows.contains(row) { rows.append(row) } }

    func insertAll(in table: String) { tables.insert(table) }
}
