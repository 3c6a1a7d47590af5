// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The operation queue of a memory store.
struct MemoryQueue: Sendable {
    private var operations = SortedMap<Int64, TableOperation>()
    private var tables: [UTF8Text: TableQueue] = [:]
    /// The last id ever used.
    private(set) var lastID: Int64 = 0

    private struct TableQueue: Sendable {
        /// The operation ids of each item, ascending.
        var ids = SortedMap<UTF8Text, [Int64]>()
        var count = 0
    }

    func operation(id: Int64) -> TableOperation? { operations[id] }

    func operations(after id: Int64, in table: String?, limit: Int) -> [TableOperation] {
        guard id < .max, limit > 0 else { return [] }
        var later: [TableOperation] = []
        operations.forEach(from: id + 1) { entry in
            if table?.hasSameBytes(as: entry.value.table) ?? true { later.append(entry.value) }
            return later.count < limit
        }
        return later
    }

    func operations(ofItem itemID: String, in table: String) -> [TableOperation] {
        (tables[UTF8Text(table)]?.ids[UTF8Text(itemID)] ?? []).compactMap { operations[$0] }
    }

    func count(in table: String?) -> Int {
        table.map { tables[UTF8Text($0)]?.count ?? 0 } ?? operations.count
    }

    mutating func put(_ operation: TableOperation) {
        if let old = operations.updateValue(operation, for: operation.id) {
            if old.itemID.hasSameBytes(as: operation.itemID), old.table.hasSameBytes(as: operation.table) {
                return
            }
            removeID(of: old)
        }
        addID(of: operation)
        lastID = max(lastID, operation.id)
    }

    mutating func remove(id: Int64) {
        if let removed = operations.removeValue(for: id) { removeID(of: removed) }
    }

    private mutating func addID(of operation: TableOperation) {
        let (id, item) = (operation.id, UTF8Text(operation.itemID))
        // Most items have at most one operation.
        let others = tables[UTF8Text(operation.table), default: TableQueue()].ids.updateValue([id], for: item)
        if let others { tables[UTF8Text(operation.table)]?.ids[item] = (others + [id]).sorted() }
        tables[UTF8Text(operation.table)]?.count += 1
    }

    private mutating func removeID(of operation: TableOperation) {
        let item = UTF8Text(operation.itemID)
        let others = (tables[UTF8Text(operation.table)]?.ids[item] ?? []).filter { $0 != operation.id }
        tables[UTF8Text(operation.table)]?.ids[item] = others.isEmpty ? nil : others
        tables[UTF8Text(operation.table)]?.count -= 1
    }
}
