// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A store's access to the rows of one table, for one query.
///
/// Inlinable, so that a query is specialized for the rows of a store.
@usableFromInline package protocol QueryableRows {
    /// A row as it is stored. Only the columns that a filter needs are read.
    associatedtype Row: ScannedRow

    var query: TableQuery { get }
    /// The query's filter.
    var filter: PreparedFilter { get }
    var table: SyncTableDefinition { get }
    /// Whether the store has an index of each of the table's ``SyncTableDefinition/indexedColumns``.
    var usesIndexes: Bool { get }

    /// Calls the body with each row from that id on, or with each row for `nil`, in the order of ids, until the body returns
    /// false.
    func forEachRow(from id: String?, _ body: (Row) throws -> Bool) throws

    /// Calls the body with the row of that id, and returns its result; `nil` when there is no such row.
    func withRow(id: String, _ body: (Row) throws -> Bool) throws -> Bool?

    /// Calls the body with the ids in a range of a column's index, in the order of encoded values and ids, until the body
    /// returns false.
    func forEachID(
        in range: IndexRange, of column: IndexedColumn, _ body: (String) throws -> Bool
    ) throws

    /// Returns the item, at least with the fields that the query returns or compares.
    func item(_ row: Row) throws -> Item
}

extension QueryableRows {
    /// Returns the result of the query. Stops reading as soon as the result is known.
    @inlinable package func result() throws -> QueryResult {
        let candidates = query.candidates(in: table, usesIndexes: usesIndexes)
        if query.isOrderOfID(of: candidates) {
            var items: [Item] = []
            let count = try forEachRowInWindow(of: candidates) { row in
                items.append(try item(row))
            }
            return query.result(of: items, matchCount: count)
        }
        let filter = filter
        var window = QueryWindow(query)
        var value: [UInt8]?
        try forEachRow(of: candidates) { row in
            guard try filter.matches(row) else { return true }
            let item = try item(row)
            if case .rangeInOrderOfValue(let column, _) = candidates {
                let next = column.encodedValue(of: item)
                if window.isFilled, next != value { return false }
                value = next
            }
            window.add(item)
            return true
        }
        return window.result
    }

    /// Calls the body with the columns of each row that the query matches, in its order: see
    /// ``StoreSnapshot/forEachRow(matching:columns:_:)``. The query selects at least the columns, or all.
    @inlinable package func forEachRow(
        columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        let candidates = query.candidates(in: table, usesIndexes: usesIndexes)
        guard query.isOrderOfID(of: candidates) else {
            return try result().forEachItem(columns: columns, body)
        }
        let positions = ColumnPositions(of: columns)
        var values = RowValues(columnCount: columns.count)
        return try forEachRowInWindow(of: candidates) { row in
            try row.read(positions, into: &values)
            try body(values)
        }
    }

    /// Calls the body with each matching row within the query's offset and limit, where the order of ids is the query's.
    ///
    /// - Returns: the number of matching rows if the query includes it.
    @inlinable package func forEachRowInWindow(
        of candidates: QueryCandidates, _ body: (Row) throws -> Void
    ) throws -> Int? {
        let (window, filter) = (query.window, filter)
        var count = 0
        if window.isEmpty, !query.includesTotalCount { return nil }
        try forEachRow(of: candidates) { row in
            guard try filter.matches(row) else { return true }
            if window.contains(count) { try body(row) }
            count += 1
            return query.includesTotalCount || count < window.upperBound
        }
        return query.includesTotalCount ? count : nil
    }

    @inlinable func forEachRow(of candidates: QueryCandidates, _ body: (Row) throws -> Bool) throws {
        switch candidates {
        case .all: try forEachRow(from: nil, body)
        case .from(let id): try forEachRow(from: id, body)
        case .ids(let ids):
            for id in ids where try withRow(id: id, body) == false { return }
        case .rangeInOrderOfID(let column, let range), .rangeInOrderOfValue(let column, let range):
            try forEachID(in: range, of: column) { try withRow(id: $0, body) ?? true }
        case .ranges(let column, let ranges):
            let ids = try ids(in: ranges, of: column)
            try forEachRow(of: ids.map { .ids($0.distinctInOrder) } ?? .all, body)
        }
    }

    /// Returns the ids in the ranges, or `nil` when there are too many.
    @inlinable func ids(in ranges: [IndexRange], of column: IndexedColumn) throws -> [String]? {
        var ids: [String] = []
        for range in ranges {
            try forEachID(in: range, of: column) { id in
                ids.append(id)
                return ids.count <= QueryCandidates.maxCount
            }
        }
        return ids.count <= QueryCandidates.maxCount ? ids : nil
    }
}

extension TableQuery {
    /// Whether the query's order is that of the ids, and the candidates are read in it.
    @usableFromInline package func isOrderOfID(of candidates: QueryCandidates) -> Bool {
        if case .rangeInOrderOfValue = candidates { false } else { orderings.isEmpty }
    }

    /// The positions of the matching rows that the result has, in the query's order.
    @usableFromInline package var window: Range<Int> {
        guard let limit else { return offset..<Int.max }
        let (end, overflows) = offset.addingReportingOverflow(limit)
        return offset..<(overflows ? .max : end)
    }
}
