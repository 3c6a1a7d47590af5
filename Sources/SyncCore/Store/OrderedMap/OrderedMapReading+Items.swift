// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension OrderedMapReading {
    func item(id: String, in table: String) throws -> Item? {
        _ = try catalog.table(named: table)
        return try item(id: id, in: table, keeping: nil)
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        _ = try catalog.table(named: query.table)
        return try query.orderings.isEmpty ? itemsInOrderOfID(query) : itemsInOrder(query)
    }

    /// Keeps no item outside the window, and reads no further than the window unless all are to be counted.
    private func itemsInOrderOfID(_ query: TableQuery) throws -> QueryResult {
        let offset = max(query.offset, 0)
        let limit = max(query.limit ?? .max, 0)
        var items: [Item] = []
        var count = 0
        if limit > 0 || query.includesTotalCount {
            try forEachItem(matching: query) { item in
                count += 1
                if count > offset, items.count < limit { items.append(query.selecting(item)) }
                return items.count < limit || query.includesTotalCount
            }
        }
        return QueryResult(items: items, totalCount: query.includesTotalCount ? count : nil)
    }

    private func itemsInOrder(_ query: TableQuery) throws -> QueryResult {
        var items: [Item] = []
        try forEachItem(matching: query) { item in
            items.append(item)
            return true
        }
        var matched = query
        matched.filter = nil
        return matched.apply(to: items)
    }

    /// Runs the body on each matching item in order of id, until it returns false. Fields that the query neither
    /// returns nor looks at are left out.
    private func forEachItem(matching query: TableQuery, _ body: (Item) throws -> Bool) throws {
        let names = query.neededFields
        if let ids = query.filter?.requiredIDs {
            for id in ids {
                guard let item = try item(id: id, in: query.table, keeping: names) else { continue }
                if query.filter?.matches(item) ?? true, try !body(item) { return }
            }
            return
        }
        try scan(prefix: StoreKey.items(of: query.table)) { key, value in
            let item = try Item(id: key.text(), bytes: value, keeping: names)
            return try query.filter?.matches(item) ?? true ? body(item) : true
        }
    }

    private func item(id: String, in table: String, keeping names: Set<String>?) throws -> Item? {
        try get(StoreKey.item(id, of: table)) { try Item(id: id, bytes: $0, keeping: names) }
    }
}

extension OrderedMapWriter {
    func upsert(_ items: [Item], in table: String) throws {
        _ = try catalog.table(named: table)
        for item in items {
            guard item.id.utf8.count <= maxIDLength else {
                throw StoreError(
                    .unsupported,
                    "An id of \(item.id.utf8.count) bytes is too long; this store takes up to \(maxIDLength)."
                )
            }
            try put(item.bytes, for: StoreKey.item(item.id, of: table))
        }
    }

    func deleteItems(ids: [String], in table: String) throws {
        _ = try catalog.table(named: table)
        for id in ids { try delete(StoreKey.item(id, of: table)) }
    }

    @discardableResult
    func deleteItems(matching query: TableQuery) throws -> Int {
        let ids = try items(matching: query.select("id")).items.map(\.id)
        try deleteItems(ids: ids, in: query.table)
        return ids.count
    }
}
