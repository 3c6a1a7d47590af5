// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The values of one stored row, as ``StoreSnapshot/forEachRow(matching:columns:_:)`` reads them.
public struct RowValues: Sendable, Hashable {
    /// The id of the row.
    public var id: String
    /// The value of each requested column, in their order; null where the row has none.
    public var values: [ItemValue]
    /// The system properties of the row.
    public var system: SystemProperties

    /// Makes the values of a row.
    public init(id: String, values: [ItemValue], system: SystemProperties) {
        self.id = id
        self.values = values
        self.system = system
    }
}

extension StoreSnapshot {
    /// Reads the rows by ``items(matching:)``.
    public func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        try wholeItems(matching: query).forEachItem(columns: columns, body)
    }

    /// Returns the items with all of their columns, whatever the query selects.
    func wholeItems(matching query: TableQuery) throws -> QueryResult {
        var query = query
        query.selection = []
        return try items(matching: query)
    }
}

extension QueryResult {
    /// Calls the body with the values of each item, which has at least the columns.
    ///
    /// - Returns: ``totalCount``.
    @usableFromInline package func forEachItem(columns: [String], _ body: (RowValues) throws -> Void) rethrows
        -> Int?
    {
        var values = RowValues(columnCount: columns.count)
        let columns = ColumnPositions(of: columns)
        for item in items {
            values.read(item, columns)
            try body(values)
        }
        return totalCount
    }
}

extension RowValues {
    /// Reads the columns of an item.
    package init(_ item: Item, columns: [String]) {
        self.init(columnCount: columns.count)
        read(item, ColumnPositions(of: columns))
    }

    /// Makes values to read rows into.
    @usableFromInline package init(columnCount: Int) {
        self.init(
            id: "", values: Array(repeating: .null, count: columnCount), system: SystemProperties())
    }

    /// Reads the columns of an item.
    package mutating func read(_ item: Item, _ columns: ColumnPositions) {
        (id, system) = (item.id, item.system)
        columns.read(item, into: &values)
    }
}
