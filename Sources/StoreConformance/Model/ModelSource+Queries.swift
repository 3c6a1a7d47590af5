// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension ModelSource {
    mutating func query() -> TableQuery {
        var query = TableQuery(random.once(in: 8) ? random.pick(["Thing2", "order", "Nothing"]) : "Thing")
        if query.table == "Thing" {
            if !random.once(in: 4) { query.filter = random.once(in: 100) ? largeFilter() : filter(depth: 0) }
            query.orderings = (0..<random.below(3)).map { _ in
                let type = random.pick(ColumnType.allCases.filter { $0 != .json })
                return Ordering(column(type), isDescending: random.once(in: 2))
            }
            if random.once(in: 5) { query.selection = [random.pick(Fixture.thing.columns).name, "label"] }
        }
        if random.once(in: 3) { query.offset = random.below(4) }
        if random.once(in: 3) { query.limit = random.once(in: 6) ? 500 : random.below(5) }
        query.includesTotalCount = random.once(in: 2)
        if random.once(in: 20) { query.parameters = ["for": "the server"] }
        return query
    }

    private mutating func filter(depth: Int) -> Filter {
        if depth < 3, random.once(in: 3) {
            switch random.below(3) {
            case 0: return .not(filter(depth: depth + 1))
            case 1: return .all((0..<random.below(4)).map { _ in filter(depth: depth + 1) })
            default: return .any((0..<random.below(4)).map { _ in filter(depth: depth + 1) })
            }
        }
        switch random.below(12) {
        case 0: return .nullTest(.column(random.pick(Fixture.thing.columns).name))
        case 1, 2:
            let part = random.once(in: 6) ? expression(.text) : .constant(.text(text()))
            return .text(random.pick(Filter.TextTest.allCases), expression(.text), part)
        case 3, 4:
            let type = comparableType()
            let values = (0..<random.below(4)).map { _ in random.once(in: 6) ? .null : value(type) }
            return .membership(expression(type), values)
        case 5 where random.once(in: 3): return .always(random.once(in: 2))
        default: return comparison()
        }
    }

    private mutating func comparison() -> Filter {
        let type = comparableType()
        let left = expression(type)
        let right: FilterExpression =
            switch random.below(8) {
            case 0: expression(type)
            case 1: .constant(.null)
            case 2 where type == .integer: .constant(value(.double))
            case 3...5 where type == .integer: .constant(.int(Int64(random.below(13))))
            default: .constant(value(type))
            }
        let comparison = random.pick(Filter.Comparison.allCases)
        return random.once(in: 8)
            ? .comparison(comparison, right, left) : .comparison(comparison, left, right)
    }

    private mutating func comparableType() -> ColumnType {
        random.pick([.bool, .integer, .integer, .double, .double, .text, .text, .text, .date, .date, .data])
    }

    /// Returns a column of the type, or a computed expression of the type.
    private mutating func expression(_ type: ColumnType, depth: Int = 0) -> FilterExpression {
        guard depth < 2, random.once(in: 2 + 2 * depth) else { return column(type) }
        let inner = depth + 1
        switch type {
        case .text:
            let function = random.pick([FilterExpression.Function.tolower, .toupper, .trim, .concat])
            let arguments = (0..<function.arity).map { _ in expression(.text, depth: inner) }
            return .call(function, arguments)
        case .integer:
            switch random.below(4) {
            case 0: return .call(.length, [expression(.text, depth: inner)])
            case 1: return .call(.indexof, [expression(.text, depth: inner), .constant(.text(text()))])
            case 2:
                let part = random.pick([
                    FilterExpression.Function.year, .month, .day, .hour, .minute, .second,
                ])
                return .call(part, [expression(.date, depth: inner)])
            default:
                let operation = random.pick(FilterExpression.Arithmetic.allCases)
                return .arithmetic(operation, expression(.integer, depth: inner), smallInteger())
            }
        case .double where random.once(in: 2):
            let function = random.pick([FilterExpression.Function.round, .floor, .ceiling])
            return .call(function, [expression(.double, depth: inner)])
        case .double:
            let operation = random.pick([FilterExpression.Arithmetic.add, .sub, .mul, .div])
            let right = random.once(in: 2) ? smallInteger() : .constant(value(.double))
            return .arithmetic(operation, expression(.double, depth: inner), right)
        default: return column(type)
        }
    }

    private mutating func smallInteger() -> FilterExpression {
        .constant(random.once(in: 12) ? .null : .int(Int64(random.below(6) - 1)))
    }

    private mutating func column(_ type: ColumnType) -> FilterExpression {
        let names =
            switch type {
            case .text: ["label", "label", "mark", "note", "id", "version"]
            case .date: ["due", "due", "createdAt", "updatedAt"]
            default: Fixture.thing.columns.filter { $0.type == type }.map(\.name)
            }
        return .column(random.pick(names))
    }

    /// Returns a filter with a thousand operands or hundreds of levels.
    private mutating func largeFilter() -> Filter {
        let counts = (-2..<1100).map(Int64.init)
        switch random.below(4) {
        case 0: return .membership(.column("count"), counts.map(ItemValue.int))
        case 1: return .any(counts.map { .column("count") == $0 })
        case 2: return .all(counts.map { .column("count") != $0 })
        default: return (0..<600).reduce(comparison()) { filter, _ in .not(filter) }
        }
    }
}
