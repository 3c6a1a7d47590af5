// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension OrderedMapReading {
    func item(id: String, in table: String) throws -> Item? {
        _ = try catalog.table(named: table)
        let names = hiddenColumns.declaredNames(in: table)
        return try get(StoreKey.item(id, of: table)) { try Item(id: id, bytes: $0, keeping: names) }
    }
}

extension OrderedMapWriter {
    func insert(_ item: Item, in table: String) throws -> Bool {
        let indexes = indexes(of: try catalog.table(named: table))
        try checkLength(of: item.id)
        let key = StoreKey.item(item.id, of: table)
        guard try insert(item.bytes, for: key) else { return false }
        for index in indexes {
            if let key = index.key(item) { try put(index.value(id: item.id), for: key) }
        }
        return true
    }

    func upsert(_ items: [Item], in table: String) throws {
        let indexes = indexes(of: try catalog.table(named: table))
        for item in items {
            try checkLength(of: item.id)
            let key = StoreKey.item(item.id, of: table)
            if !indexes.isEmpty { try update(indexes, id: item.id, from: key, to: item) }
            try put(keepingHiddenFields(of: item, in: table, at: key).bytes, for: key)
        }
    }

    /// Returns the item with the stored item's values of hidden columns.
    private func keepingHiddenFields(of item: Item, in table: String, at key: [UInt8]) throws -> Item {
        guard let names = hiddenColumns.hiddenNames(in: table),
            let old = try get(key, { try Item(id: item.id, bytes: $0, keeping: names) })
        else { return item }
        var item = item
        item.fields.merge(old.fields) { new, _ in new }
        return item
    }

    func deleteItems(ids: [String], in table: String) throws {
        let indexes = indexes(of: try catalog.table(named: table))
        for id in ids {
            let key = StoreKey.item(id, of: table)
            if !indexes.isEmpty { try update(indexes, id: id, from: key, to: nil) }
            try delete(key)
        }
    }

    @discardableResult
    func deleteItems(matching query: TableQuery) throws -> Int {
        let ids = try items(matching: query.select("id")).items.map(\.id)
        try deleteItems(ids: ids, in: query.table)
        return ids.count
    }

    private func checkLength(of id: String) throws(StoreError) {
        guard id.utf8.count <= maxIDLength else {
            throw StoreError(
                .unsupported,
                "The id has \(id.utf8.count) bytes; this store supports at most \(maxIDLength). Use a shorter id."
            )
        }
    }

    private func indexes(of table: SyncTableDefinition) -> [ColumnIndex] {
        usesIndexes ? table.indexedColumns.map { ColumnIndex($0, of: table.name) } : []
    }

    private func update(_ indexes: [ColumnIndex], id: String, from key: [UInt8], to item: Item?) throws {
        let names = FieldNames(indexes.map(\.column.name))
        let old = try get(key) { try Item(id: id, bytes: $0, keeping: names) }
        for index in indexes {
            let (oldKey, newKey) = (old.flatMap(index.key), item.flatMap(index.key))
            guard oldKey != newKey else { continue }
            if let oldKey { try delete(oldKey) }
            if let newKey { try put(index.value(id: id), for: newKey) }
        }
    }
}
