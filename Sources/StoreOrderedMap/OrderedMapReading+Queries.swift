// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension OrderedMapReading {
    func items(matching query: TableQuery) throws -> QueryResult {
        let table = try catalog.table(named: query.table)
        return try query.orderings.isEmpty
            ? itemsInOrderOfID(query, of: table) : itemsInOrder(query, of: table)
    }

    /// Keeps no item outside the window, and reads no further than the window unless all are to be counted.
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

    /// Keeps at most twice as many items as the window's end is away, which are those that come first so far. Along an
    /// index it reads no further than the window, and to the end of the place in the index where that is reached.
    private func itemsInOrder(_ query: TableQuery, of table: SyncTableDefinition) throws -> QueryResult {
        let end = query.limit.map { query.offset.addingReportingOverflow($0) }
        let kept = end.map { $0.overflow ? .max : $0.partialValue } ?? .max
        let leading = leadingIndex(of: query, in: table)
        var place: [UInt8]?
        var items: [Item] = []
        var count = 0
        let candidates = leading.map { Candidates.entries($0.index, $0.range) }
        try forEachItem(matching: query, of: table, among: candidates) { item in
            if let index = leading?.index {
                let next = item.fields[index.column.name].flatMap(index.place)
                if items.count >= kept, next != place { return false }
                place = next
            }
            count += 1
            items.append(item)
            if items.count / 2 > kept {
                items.sort(by: query.precedes)
                items.removeSubrange(kept...)
            }
            return true
        }
        items.sort(by: query.precedes)
        let window = items.dropFirst(query.offset).prefix(query.limit ?? .max)
        return QueryResult(
            items: window.map(query.selecting), totalCount: query.includesTotalCount ? count : nil)
    }

    /// Runs the body on each matching item in order of id, or in that of the candidates given, until it returns false.
    /// Fields that the query neither returns nor looks at are left out.
    private func forEachItem(
        matching query: TableQuery, of table: SyncTableDefinition, among given: Candidates? = nil,
        _ body: (Item) throws -> Bool
    ) throws {
        let names =
            query.neededFields.map(FieldNames.init) ?? hiddenColumns.declaredNames(in: query.table)
        let columns = StoredRow.ReadColumns()
        func visit(_ id: UnsafeRawBufferPointer, _ bytes: UnsafeRawBufferPointer) throws -> Bool {
            let row = StoredRow(id: id, bytes: bytes, columns: columns)
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

    /// Where to look for the items of a query: some of these may not match, but no others can.
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

    /// The index whose order is the query's before anything else, with the range of it that the filter leaves; `nil`
    /// when there is none, or when the order of the index is of no use.
    ///
    /// The filter sees to it that nulls, which are in no index, do not match.
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

    /// Runs the body on the ids in a range of an index, until it returns false.
    private func scan(_ range: IndexRange, of index: ColumnIndex, _ body: (String) throws -> Bool) throws {
        try scan(prefix: index.prefix, from: index.prefix + range.lower) { key, value in
            guard range.reaches(key) else { return false }
            return try body(index.id(key: key, value: value))
        }
    }
}

/// Where the items of a query are to be looked for.
private enum Candidates {
    case all
    case ids([String])
    /// A range of an index that is in order of id.
    case entries(ColumnIndex, IndexRange)

    /// With more, looking each of them up is no better than reading the whole table.
    static let maxCount = 65_536
}
