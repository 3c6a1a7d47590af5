// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension OrderedMapReading {
    func items(matching query: TableQuery) throws -> QueryResult {
        let table = try catalog.table(named: query.table)
        return try query.orderings.isEmpty
            ? itemsInOrderOfID(query, of: table) : itemsInOrder(query, of: table)
    }

    /// Keeps only items inside the window, and stops reading at its end unless all matches must be counted.
    private func itemsInOrderOfID(_ query: TableQuery, of table: SyncTableDefinition) throws -> QueryResult {
        let (offset, limit) = (query.offset, query.limit ?? .max)
        var items: [Item] = []
        var count = 0
        if limit > 0 || query.includesTotalCount {
            try forEachItem(matching: query, of: table) { item in
                count += 1
                if count > offset, items.count < limit { items.append(query.selecting(item)) }
                return items.count < limit || query.includesTotalCount
            }
        }
        return QueryResult(items: items, totalCount: query.includesTotalCount ? count : nil)
    }

    /// With an index in the query's order, stops reading after the window and the items with the same indexed value as its
    /// last one.
    private func itemsInOrder(_ query: TableQuery, of table: SyncTableDefinition) throws -> QueryResult {
        let leading = leadingIndex(of: query, in: table)
        var value: [UInt8]?
        var window = QueryWindow(query)
        let candidates = leading.map { Candidates.entries($0.index, $0.range) }
        try forEachItem(matching: query, of: table, among: candidates) { item in
            if let index = leading?.index {
                let next = item.fields[index.column.name].flatMap(index.encode)
                if window.isFilled, next != value { return false }
                value = next
            }
            window.add(item)
            return true
        }
        return window.result
    }

    /// Calls the body with each matching item, in the order of ids or of the given candidates, until the body returns
    /// false. Decodes only the fields that the query returns or compares.
    private func forEachItem(
        matching query: TableQuery, of table: SyncTableDefinition, among given: Candidates? = nil,
        _ body: (Item) throws -> Bool
    ) throws {
        let names =
            query.neededFields.map(FieldNames.init) ?? hiddenColumns.declaredNames(in: query.table)
        let cache = StoredRow.ColumnCache()
        func visit(_ id: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
            let row = StoredRow(id: id, bytes: bytes, cache: cache)
            guard try query.filter?.matches(row: row) ?? true else { return true }
            return try body(row.item(keeping: names))
        }
        func visit(_ id: String) throws -> Bool {
            let key = StoreKey.item(id, of: query.table)
            var id = id
            return try id.withUTF8 { id in
                try get(key) { try visit(UnsafeRawBufferPointer(id), $0) } ?? true
            }
        }
        switch try given ?? candidates(of: query, in: table) {
        case .all: try scan(prefix: StoreKey.items(of: query.table), visit)
        case .ids(let ids):
            for id in ids where try !visit(id) { return }
        case .entries(let index, let range): try scan(range, of: index, visit)
        }
    }

    /// Returns the candidates of a query: a superset of its matches.
    private func candidates(of query: TableQuery, in table: SyncTableDefinition) throws -> Candidates {
        guard let filter = query.filter else { return .all }
        if let ids = filter.requiredIDs { return .ids(ids) }
        guard usesIndexes, let plan = filter.indexPlan(for: table) else { return .all }
        if let range = plan.rangeInOrderOfID { return .entries(plan.index, range) }
        var ids: [String] = []
        for range in plan.ranges {
            try scan(range, of: plan.index) { id in
                ids.append(id)
                return ids.count <= Candidates.maxCount
            }
        }
        return ids.count <= Candidates.maxCount ? .ids(ids.distinctInOrder) : .all
    }

    /// Returns the index that has the query's first ordering, and its range that satisfies the filter; `nil` when there
    /// is none or the query must read all matches.
    ///
    /// The filter excludes nulls, which have no index keys.
    private func leadingIndex(
        of query: TableQuery, in table: SyncTableDefinition
    ) -> (index: ColumnIndex, range: IndexRange)? {
        guard usesIndexes, query.limit != nil, !query.includesTotalCount, let filter = query.filter,
            filter.requiredIDs == nil, let first = query.orderings.first, !first.isDescending,
            case .column(let name) = first.expression, let plan = filter.indexPlan(for: table),
            plan.index.column.name == name, plan.ranges.count == 1
        else { return nil }
        return (plan.index, plan.ranges[0])
    }

    /// Calls the body with the ids in a range of an index, until the body returns false.
    private func scan(_ range: IndexRange, of index: ColumnIndex, _ body: (String) throws -> Bool) throws {
        try scan(prefix: index.prefix, from: index.prefix + range.lower) { key, value in
            guard range.endsAfter(key) else { return false }
            return try body(index.id(key: key, value: value))
        }
    }
}

/// The items that a query must check.
private enum Candidates {
    case all
    case ids([String])
    /// A range of an index, in the order that the query needs.
    case entries(ColumnIndex, IndexRange)

    /// Above this number of ids, reading the whole table is as fast as looking the ids up.
    static let maxCount = 65_536
}
