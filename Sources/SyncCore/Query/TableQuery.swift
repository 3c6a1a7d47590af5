// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Which items of a table to read, in what order, and how many.
///
/// ```swift
/// let open = TableQuery("TodoItem").where(.column("complete") == false).order(by: "text").limit(20)
/// ```
///
/// A query is a value: every method returns a changed copy.
public struct TableQuery: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The condition; `nil` matches every item.
    public var filter: Filter?
    /// The order, first key first. Ties, and queries without order, go by id in byte order.
    public var orderings: [Ordering] = []
    /// How many matching items to skip.
    public var offset = 0
    /// The greatest number of items to return; `nil` is all of them.
    public var limit: Int?
    /// The fields to return; empty is all. The id and the system properties always come.
    public var selection: [String] = []
    /// Whether to count all matching items, regardless of offset and limit.
    public var includesTotalCount = false
    /// The app's own parameters for the server; local reads ignore them.
    public var parameters: [String: String] = [:]

    /// Every item of that table.
    public init(_ table: String) {
        self.table = table
    }

    /// Narrows the query: items must match this condition too.
    public func `where`(_ condition: Filter) -> TableQuery {
        with { $0.filter = $0.filter.map { $0 && condition } ?? condition }
    }

    /// Appends an ascending key to the order.
    public func order(by column: some FilterExpressionConvertible) -> TableQuery {
        with { $0.orderings.append(Ordering(column.expression)) }
    }

    /// Appends an ascending key: the column of that name.
    public func order(by column: String) -> TableQuery { order(by: .column(column)) }

    /// Appends a descending key to the order.
    public func order(byDescending column: some FilterExpressionConvertible) -> TableQuery {
        with { $0.orderings.append(Ordering(column.expression, isDescending: true)) }
    }

    /// Appends a descending key: the column of that name.
    public func order(byDescending column: String) -> TableQuery { order(byDescending: .column(column)) }

    /// Skips so many matching items.
    public func offset(_ count: Int) -> TableQuery { with { $0.offset = count } }

    /// Returns at most so many items.
    public func limit(_ count: Int) -> TableQuery { with { $0.limit = count } }

    /// Returns only these fields.
    public func select(_ columns: String...) -> TableQuery { with { $0.selection = columns } }

    /// Counts all matching items too.
    public func includingTotalCount() -> TableQuery { with { $0.includesTotalCount = true } }

    /// Adds a parameter for the server, such as a switch of a custom endpoint.
    public func parameter(_ name: String, _ value: String) -> TableQuery {
        with { $0.parameters[name] = value }
    }

    private func with(_ change: (inout TableQuery) -> Void) -> TableQuery {
        var copy = self
        change(&copy)
        return copy
    }
}

/// One key of a query's order.
///
/// Nulls come first, then values in the order that ``Filter/Comparison`` gives; a descending key reverses
/// both. Dates of one instant are ordered by their number of fraction digits.
public struct Ordering: Sendable, Hashable {
    /// The column.
    public let expression: FilterExpression
    /// Whether greater values come first.
    public let isDescending: Bool

    /// Makes a key; only columns can be ordered by.
    public init(_ expression: FilterExpression, isDescending: Bool = false) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// What a query found.
public struct QueryResult: Sendable, Hashable {
    /// The items, in the query's order.
    public let items: [Item]
    /// How many items match regardless of offset and limit, when the query asked for it.
    public let totalCount: Int?

    /// Makes a result.
    public init(items: [Item], totalCount: Int? = nil) {
        self.items = items
        self.totalCount = totalCount
    }
}
