// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// The items of one table, and an index of each column that is declared as indexed.
struct MemoryTable: Sendable {
    let table: SyncTableDefinition
    /// An item with its id, shared with snapshots.
    typealias Entry = SortedMap<UTF8Text, Item>.Entry

    private var items = SortedMap<UTF8Text, Item>()
    private var indexes: [Index]

    private struct Index: Sendable {
        let column: IndexedColumn
        /// One key per item whose value is not null.
        var keys = SortedMap<IndexKey, Void>()
    }

    init(_ table: SyncTableDefinition) {
        self.table = table
        indexes = table.indexedColumns.map { Index(column: $0) }
    }

    func item(id: String) -> Item? { entry(id: id)?.value }

    func entry(id: String) -> Entry? { items.entry(of: UTF8Text(id)) }

    mutating func upsert(_ item: Item) {
        var item = item
        item.content = item.content.packed(in: table.layout)
        updateIndexes(from: items.updateValue(item, for: UTF8Text(item.id)), to: item, id: item.id)
    }

    mutating func deleteItem(id: String) {
        updateIndexes(from: items.removeValue(for: UTF8Text(id)), to: nil, id: id)
    }

    private mutating func updateIndexes(from old: Item?, to new: Item?, id: String) {
        for (position, index) in indexes.enumerated() {
            let name = index.column.name
            guard old?.content[name] != new?.content[name] else { continue }
            let (oldValue, newValue) = (
                old.flatMap(index.column.encodedValue), new.flatMap(index.column.encodedValue)
            )
            guard oldValue != newValue else { continue }
            if let oldValue {
                indexes[position].keys.removeValue(for: IndexKey(value: oldValue, id: UTF8Text(id)))
            }
            if let newValue {
                indexes[position].keys.updateValue((), for: IndexKey(value: newValue, id: UTF8Text(id)))
            }
        }
    }
}

/// An encoded value and the id of an item that has it.
private struct IndexKey: Comparable, Sendable {
    let value: [UInt8]
    let id: UTF8Text

    static func < (left: IndexKey, right: IndexKey) -> Bool {
        left.value == right.value ? left.id < right.id : left.value.lexicographicallyPrecedes(right.value)
    }
}

extension MemoryTable {
    /// Calls the body with each item from that id on, or with each item for `nil`, until it returns false.
    func forEachEntry(from id: String?, _ body: (Entry) throws -> Bool) rethrows {
        try items.forEach(from: id.map(UTF8Text.init), body)
    }

    /// Calls the body with the ids in a range of a column's index until it returns false.
    func forEachID(
        in range: IndexRange, of column: IndexedColumn, _ body: (String) throws -> Bool
    ) rethrows {
        guard let index = indexes.first(where: { $0.column.name == column.name }) else { return }
        try index.keys.forEach(from: IndexKey(value: range.lower, id: UTF8Text(""))) { entry in
            guard entry.key.value.withUnsafeBytes(range.endsAfter) else { return false }
            return try body(entry.key.id.text)
        }
    }
}
