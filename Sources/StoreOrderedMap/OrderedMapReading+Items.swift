// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension OrderedMapReading {
    func item(id: String, in table: String) throws -> Item? {
        _ = try catalog.table(named: table)
        let layout = storedColumns[table]?.layout
        return try get(StoreKey.item(id, of: table)) { try Item(id: id, bytes: $0, keeping: layout) }
    }
}

extension OrderedMapWriter {
    func insert(_ item: Item, in table: String) throws -> Bool {
        _ = try catalog.table(named: table)
        try checkLength(of: item.id)
        let key = StoreKey.item(item.id, of: table)
        guard try insert(item.bytes, for: key) else { return false }
        for index in storedColumns[table]?.indexes ?? [] {
            if let key = index.key(item) { try put(index.value(id: item.id), for: key) }
        }
        return true
    }

    func upsert(_ items: [Item], in table: String) throws {
        _ = try catalog.table(named: table)
        let stored = storedColumns[table]
        for item in items {
            try checkLength(of: item.id)
            let key = StoreKey.item(item.id, of: table)
            guard let stored, let layout = stored.replacedLayout else {
                try put(item.bytes, for: key)
                continue
            }
            let old = try get(key) { try Item(id: item.id, bytes: $0, keeping: layout) }
            let new = old.map { stored.keepingHiddenFields(of: $0, in: item) } ?? item
            try update(stored.indexes, id: item.id, from: old, to: new)
            try put(new.bytes, for: key)
        }
    }

    func deleteItems(ids: [String], in table: String) throws {
        _ = try catalog.table(named: table)
        let stored = storedColumns[table]
        for id in ids {
            let key = StoreKey.item(id, of: table)
            if let stored, !stored.indexes.isEmpty {
                let old = try get(key) { try Item(id: id, bytes: $0, keeping: stored.replacedLayout) }
                try update(stored.indexes, id: id, from: old, to: nil)
            }
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

    private func update(_ indexes: [ColumnIndex], id: String, from old: Item?, to new: Item?) throws {
        for index in indexes {
            let (oldKey, newKey) = (old.flatMap(index.key), new.flatMap(index.key))
            guard oldKey != newKey else { continue }
            if let oldKey { try delete(oldKey) }
            if let newKey { try put(index.value(id: id), for: newKey) }
        }
    }
}
