// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A query of one table: a filter, an order, an offset and a limit.
///
/// ```swift
/// let open = TableQuery("TodoItem").where(.column("complete") == false).order(by: "text").limit(20)
/// ```
///
/// A query is a value: every method returns a modified copy.
public struct TableQuery: Sendable, Hashable {
    /// The table.
    public let table: String
    /// The condition; `nil` matches every item.
    public var filter: Filter?
    /// The keys of the order, most significant first. Items with equal keys are ordered by id in byte order.
    public var orderings: [Ordering] = []
    /// The number of matching items to skip.
    public var offset = 0
    /// The maximum number of items to return; `nil` returns all.
    public var limit: Int?
    /// The fields to return; empty returns all. Items always have the id and the system properties.
    public var selection: [String] = []
    /// Whether to count all matching items, regardless of offset and limit.
    public var includesTotalCount = false
    /// The app's parameters for the server; local reads ignore them.
    public var parameters: [String: String] = [:]

    /// Makes a query for all items of that table.
    public init(_ table: String) {
        self.table = table
    }

    /// Adds a condition that items must match.
    public func `where`(_ condition: Filter) -> TableQuery {
        with { $0.filter = $0.filter.map { $0 && condition } ?? condition }
    }

    /// Adds an ascending key to the order.
    public func order(by column: some FilterExpressionConvertible) -> TableQuery {
        with { $0.orderings.append(Ordering(column.expression)) }
    }

    /// Adds an ascending key to the order: the column of that name.
    public func order(by column: String) -> TableQuery { order(by: .column(column)) }

    /// Adds a descending key to the order.
    public func order(byDescending column: some FilterExpressionConvertible) -> TableQuery {
        with { $0.orderings.append(Ordering(column.expression, isDescending: true)) }
    }

    /// Adds a descending key to the order: the column of that name.
    public func order(byDescending column: String) -> TableQuery { order(byDescending: .column(column)) }

    /// Skips that number of matching items.
    public func offset(_ count: Int) -> TableQuery { with { $0.offset = count } }

    /// Returns at most that number of items.
    public func limit(_ count: Int) -> TableQuery { with { $0.limit = count } }

    /// Returns only these fields.
    public func select(_ columns: String...) -> TableQuery { with { $0.selection = columns } }

    /// Includes the number of all matching items.
    public func includingTotalCount() -> TableQuery { with { $0.includesTotalCount = true } }

    /// Adds a parameter for the server.
    public func parameter(_ name: String, _ value: String) -> TableQuery {
        with { $0.parameters[name] = value }
    }

    func with(_ change: (inout TableQuery) -> Void) -> TableQuery {
        var copy = self
        change(&copy)
        return copy
    }
}

/// One key of a query's order.
///
/// Nulls are first, followed by values in the order of ``Filter/Comparison``; a descending key reverses both. Dates of
/// one instant are ordered by their number of fraction digits.
public struct Ordering: Sendable, Hashable {
    /// The column.
    public let expression: FilterExpression
    /// Whether the order is descending.
    public let isDescending: Bool

    /// Makes a key. Only columns are supported.
    public init(_ expression: FilterExpression, isDescending: Bool = false) {
        self.expression = expression
        self.isDescending = isDescending
    }
}

/// The result of a query.
public struct QueryResult: Sendable, Hashable {
    /// The items, in the query's order.
    public let items: [Item]
    /// The number of matching items regardless of offset and limit, if the query includes it.
    public let totalCount: Int?

    /// Makes a result.
    public init(items: [Item], totalCount: Int? = nil) {
        self.items = items
        self.totalCount = totalCount
    }
}
