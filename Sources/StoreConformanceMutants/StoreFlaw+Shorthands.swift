// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
@_spi(StoreAuthor) import SyncCore

/// Common flaws. Each counts a hit only when it changes a result.
extension StoreFlaw {
    /// Changes items before they are stored; `nil` drops the item.
    mutating func changingStoredItem(_ change: @escaping @Sendable (Item) -> Item?) {
        upsert = { [hits] transaction, items, table in
            try transaction.upsert(
                items.compactMap { item in
                    let changed = change(item)
                    if changed.exactDescription != item.exactDescription { hits.hit() }
                    return changed
                }, in: table)
        }
    }

    /// Treats some items as existing when they are inserted.
    mutating func refusingInserts(
        if isRefused: @escaping @Sendable (any StoreTransaction, Item, _ table: String) throws -> Bool
    ) {
        insert = { [hits] transaction, item, table in
            guard try isRefused(transaction, item, table) else {
                return try transaction.insert(item, in: table)
            }
            if try transaction.item(id: item.id, in: table) == nil { hits.hit() }
            return false
        }
    }

    /// Changes each value before it is stored.
    mutating func changingStoredValue(_ change: @escaping @Sendable (ItemValue) -> ItemValue) {
        changingStoredItem { item in
            Item(id: item.id, fields: item.fields.mapValues { $0.mapped(change) }, system: item.system)
        }
    }

    /// Changes items that are read by id or by query.
    mutating func changingReadItem(_ change: @escaping @Sendable (Item) -> Item) {
        item = { [hits] snapshot, id, table in
            try snapshot.item(id: id, in: table).map { hits.changing($0, to: change($0)) }
        }
        items = { [hits] snapshot, query in
            let found = try snapshot.items(matching: query)
            return QueryResult(
                items: found.items.map { hits.changing($0, to: change($0)) }, totalCount: found.totalCount)
        }
    }

    /// Changes the results of queries.
    mutating func changingResult(_ change: @escaping @Sendable (QueryResult, TableQuery) -> QueryResult) {
        items = { [hits] snapshot, query in
            let found = try snapshot.items(matching: query)
            return hits.changing(found, to: change(found, query))
        }
    }

    /// Changes queries before they run.
    mutating func changingQuery(_ change: @escaping @Sendable (TableQuery) -> TableQuery) {
        items = { [hits] snapshot, query in
            let found = try snapshot.items(matching: query)
            return hits.changing(found, to: try snapshot.items(matching: change(query)))
        }
    }

    /// Changes every condition of a filter.
    mutating func filtering(_ change: @escaping @Sendable (Filter) -> Filter) {
        changingQuery { query in
            var changed = query
            changed.filter = query.filter?.mapped(change)
            return changed
        }
    }

    /// Changes the value of expressions for an item; `nil` keeps the right value.
    mutating func computing(_ change: @escaping @Sendable (FilterExpression, Item) -> ItemValue?) {
        matching { filter, item in
            filter.mapped {
                $0.mappedExpressions { expression in change(expression, item).map(FilterExpression.constant) }
            }
            .matches(item)
        }
    }

    /// Replaces the matching of filters.
    mutating func matching(_ matches: @escaping @Sendable (Filter, Item) -> Bool) {
        items = { [hits] snapshot, query in
            let right = try snapshot.items(matching: query)
            guard let filter = query.filter else { return right }
            var rest = query
            rest.filter = nil
            let all = try snapshot.items(matching: TableQuery(query.table)).items
            return hits.changing(right, to: rest.apply(to: all.filter { matches(filter, $0) }))
        }
    }

    /// Replaces the ordering of results.
    mutating func ordering(_ precedes: @escaping @Sendable (TableQuery, Item, Item) -> Bool) {
        items = { [hits] snapshot, query in
            let right = try snapshot.items(matching: query)
            var whole = query
            (whole.limit, whole.offset, whole.selection) = (nil, 0, [])
            let sorted = try snapshot.items(matching: whole).items.sorted { precedes(query, $0, $1) }
            let window = sorted.dropFirst(query.offset).prefix(query.limit ?? .max).map(query.selecting)
            return hits.changing(right, to: QueryResult(items: Array(window), totalCount: right.totalCount))
        }
    }
}

extension ItemValue {
    /// Returns the value with all nested values changed, innermost first.
    func mapped(_ change: (ItemValue) -> ItemValue) -> ItemValue {
        switch self {
        case .array(let values): change(.array(values.map { $0.mapped(change) }))
        case .object(let fields): change(.object(fields.mapValues { $0.mapped(change) }))
        default: change(self)
        }
    }
}

extension Filter {
    /// Returns the filter with all nested conditions changed, innermost first.
    func mapped(_ change: (Filter) -> Filter) -> Filter {
        switch self {
        case .all(let filters): change(.all(filters.map { $0.mapped(change) }))
        case .any(let filters): change(.any(filters.map { $0.mapped(change) }))
        case .not(let filter): change(.not(filter.mapped(change)))
        default: change(self)
        }
    }

    /// Returns the condition with its expressions replaced where the change returns a new one.
    func mappedExpressions(_ change: (FilterExpression) -> FilterExpression?) -> Filter {
        switch self {
        case .comparison(let comparison, let left, let right):
            .comparison(comparison, left.mapped(change), right.mapped(change))
        case .nullTest(let expression): .nullTest(expression.mapped(change))
        case .membership(let expression, let constants): .membership(expression.mapped(change), constants)
        case .text(let test, let text, let part): .text(test, text.mapped(change), part.mapped(change))
        default: self
        }
    }
}

extension FilterExpression {
    func mapped(_ change: (FilterExpression) -> FilterExpression?) -> FilterExpression {
        if let changed = change(self) { return changed }
        return switch self {
        case .arithmetic(let operation, let left, let right):
            .arithmetic(operation, left.mapped(change), right.mapped(change))
        case .call(let function, let arguments): .call(function, arguments.map { $0.mapped(change) })
        default: self
        }
    }
}
