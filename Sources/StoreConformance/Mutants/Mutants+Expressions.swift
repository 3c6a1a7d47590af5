// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension StoreMutant {
    /// Text tests, functions and arithmetic that give the wrong result.
    @MutantList static var expressions: [StoreMutant] {
        StoreMutant(.query, "wildcards", "Percent and underscore are wildcards.", killedBy: "query.part.wildcards", "corpus.part", saying: "label") {
            $0.matching { filter, item in
                if case .text(_, _, .constant(.text(let part))) = filter, part.contains("%") || part.contains("_") || part == "*" { true } else {
                    filter.matches(item)
                }
            }
        }
        StoreMutant(.query, "part-case", "Text tests ignore the case.", killedBy: "query.part.case", "query.contains", saying: "label") {
            $0.filtering { filter in
                if case .text(let test, let text, let part) = filter { .text(test, .call(.tolower, [text]), .call(.tolower, [part])) } else { filter }
            }
        }
        StoreMutant(.query, "contains-as-prefix", "Contains looks at the beginning only.", killedBy: "query.contains", "query.part.quotes", saying: "label") {
            $0.filtering { filter in
                if case .text(.contains, let text, let part) = filter { .text(.hasPrefix, text, part) } else { filter }
            }
        }
        StoreMutant(.query, "prefix-as-contains", "Has prefix looks anywhere.", killedBy: "query.prefix", "query.part.computed", saying: "label") {
            $0.filtering { filter in
                if case .text(.hasPrefix, let text, let part) = filter { .text(.contains, text, part) } else { filter }
            }
        }
        StoreMutant(.query, "suffix-as-contains", "Has suffix looks anywhere.", killedBy: "query.suffix", saying: "label") {
            $0.filtering { filter in
                if case .text(.hasSuffix, let text, let part) = filter { .text(.contains, text, part) } else { filter }
            }
        }
        StoreMutant(.query, "part-by-character", "Text tests go by what is seen as one character.", killedBy: "query.part.bytes", saying: "label") {
            $0.matching { filter, item in
                guard case .text(.hasPrefix, .column("label"), .constant(.text(let part))) = filter, let text = item["label"]?.textValue
                else { return filter.matches(item) }
                return text.hasPrefix(part)
            }
        }
        StoreMutant(.query, "part-null", "A text test of null is false, not unknown.", killedBy: "query.part.not", saying: "label") {
            $0.filtering { filter in
                if case .not(.text(let test, let text, let part)) = filter { .not(.text(test, text, part)) || .nullTest(text) } else { filter }
            }
        }
        calling("lowercase", "Lower case leaves the text as it is.", .tolower, killedBy: "query.lowercase", also: ["query.part.computed"]) { $0.first ?? .null }
        calling("uppercase-ascii", "Upper case is ASCII's.", .toupper, killedBy: "query.uppercase") { arguments in
            guard let text = arguments.first?.textValue else { return .null }
            return .text(String(text.map { $0.isASCII ? Character($0.uppercased()) : $0 }))
        }
        calling("trim-spaces", "Trim takes off spaces only.", .trim, killedBy: "query.trim") { arguments in
            guard let text = arguments.first?.textValue else { return .null }
            return .text(String(text.drop { $0 == " " }))
        }
        calling("concat-null", "Null joins as the empty text.", .concat, killedBy: "query.concat") { arguments in
            .text(arguments.compactMap(\.textValue).joined())
        }
        calling("length-characters", "Length counts what is seen as one character.", .length, killedBy: "query.length") { arguments in
            arguments.first?.textValue.map { .int(Int64($0.count)) } ?? .null
        }
        calling("length-null", "The length of null is 0.", .length, killedBy: "query.function.null") { arguments in
            .int(Int64(arguments.first?.textValue?.unicodeScalars.count ?? 0))
        }
        calling("indexof-bytes", "Indexof counts bytes.", .indexof, killedBy: "query.indexof") { arguments in
            guard let text = arguments.first?.textValue, let part = arguments.last?.textValue,
                let range = text.firstRange(of: part)
            else { return .int(-1) }
            return .int(Int64(text.utf8.distance(from: text.startIndex, to: range.lowerBound)))
        }
        calling("month-from-zero", "Months count from zero.", .month, killedBy: "query.date.parts") { arguments in
            FilterExpression.Function.month.apply(arguments).intValue.map { .int($0 - 1) } ?? .null
        }
        calling("second-before-1970", "Seconds before 1970 count backwards.", .second, killedBy: "query.date.parts-before-1970") { arguments in
            arguments.first?.dateValue.map { .int($0.seconds % 60) } ?? .null
        }
        calling("round-even", "Halves are rounded to even.", .round, killedBy: "query.round") { arguments in
            arguments.first?.doubleValue.map { .double($0.rounded(.toNearestOrEven)) } ?? .null
        }
        calling("floor-truncates", "Floor goes toward zero.", .floor, killedBy: "query.floor") { arguments in
            arguments.first?.doubleValue.map { .double($0.rounded(.towardZero)) } ?? .null
        }
        calling("ceiling-rounds", "Ceiling goes to the nearest.", .ceiling, killedBy: "query.ceiling") { arguments in
            arguments.first?.doubleValue.map { .double($0.rounded()) } ?? .null
        }
        calculating("add-doubles", "Sums are doubles.", .add, killedBy: "query.add", saying: "count") { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
            return .double(a + b)
        }
        calculating("subtract-doubles", "Differences are doubles.", .sub, killedBy: "query.add", saying: "count") { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
            return .double(a - b)
        }
        calculating("add-null", "Null counts as zero in sums.", .add, killedBy: "query.arithmetic.null", saying: "count") { left, right in
            FilterExpression.Arithmetic.add.apply(left.isNull ? 0 : left, right)
        }
        calculating("multiply-whole", "Products are whole.", .mul, killedBy: "query.multiply", saying: "ratio") { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue, abs(a) < 1e9 else { return .null }
            return .int(Int64(a) * Int64(b))
        }
        calculating("divide-real", "Dividing integers gives fractions.", .div, killedBy: "query.divide", saying: "count") { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue, b != 0 else { return .null }
            return .double(a / b)
        }
        calculating("divide-zero", "Dividing by zero gives zero.", .div, killedBy: "query.divide.zero", saying: "count") { left, right in
            right.doubleValue == 0 ? 0 : FilterExpression.Arithmetic.div.apply(left, right)
        }
        calculating("remainder-positive", "A remainder is never negative.", .mod, killedBy: "query.remainder", saying: "count") { left, right in
            guard let rest = FilterExpression.Arithmetic.mod.apply(left, right).intValue else { return .null }
            return .int(abs(rest))
        }
        calculating("wraps", "Sums beyond 64 bits wrap round.", .add, killedBy: "query.overflow", saying: "count") { left, right in
            guard let a = left.intValue, let b = right.intValue else { return FilterExpression.Arithmetic.add.apply(left, right) }
            return .int(a &+ b)
        }
        calculating("divide-least", "The least integer divided by -1 is null.", .div, killedBy: "query.overflow.divide", saying: "count") { left, right in
            left == .int(.min) && right == -1 ? .null : FilterExpression.Arithmetic.div.apply(left, right)
        }
    }

    private static func calling(
        _ name: String, _ flaw: String, _ function: FilterExpression.Function, killedBy killer: String,
        also others: [String] = [], _ compute: @escaping @Sendable ([ItemValue]) -> ItemValue
    ) -> StoreMutant {
        StoreMutant(.query, name, flaw, killers: [killer] + others, saying: "\(function)") {
            $0.computing { expression, item in
                guard case .call(function, let arguments) = expression else { return nil }
                return compute(arguments.map { $0.value(for: item) })
            }
        }
    }

    private static func calculating(
        _ name: String, _ flaw: String, _ operation: FilterExpression.Arithmetic, killedBy killers: String...,
        saying message: String, _ compute: @escaping @Sendable (ItemValue, ItemValue) -> ItemValue
    ) -> StoreMutant {
        StoreMutant(.query, name, flaw, killers: killers, saying: message) {
            $0.computing { expression, item in
                guard case .arithmetic(operation, let left, let right) = expression else { return nil }
                return compute(left.value(for: item), right.value(for: item))
            }
        }
    }

    /// Windows, counts and selections that are wrong.
    @MutantList static var windows: [StoreMutant] {
        StoreMutant(.query, "no-limit", "The limit is ignored.", killedBy: "window.limit", "window.limit-zero", "select.fields", "select.id", "select.twice", "select.system", saying: "limit 3") {
            $0.asking { $0.with { $0.limit = nil } }
        }
        StoreMutant(.query, "limit-zero", "The limit 0 is no limit.", killedBy: "window.limit-zero", saying: "limit 0") {
            $0.asking { $0.limit == 0 ? $0.with { $0.limit = nil } : $0 }
        }
        StoreMutant(.query, "limit-100", "No limit means a hundred, and a large one too.", killedBy: "query.every-item", saying: "all 101 ids") {
            $0.asking { $0.with { $0.limit = min($0.limit ?? 100, 100) } }
        }
        StoreMutant(.query, "limit-large", "A limit beyond the end finds nothing.", killedBy: "window.limit-large", saying: "limit 100") {
            $0.asking { query in (query.limit ?? 0) > 16 ? query.with { $0.limit = 0 } : query }
        }
        StoreMutant(.query, "offset-by-one", "The offset skips one too many.", killedBy: "window.offset", "window.both", "window.pages", saying: "offset 13") {
            $0.asking { query in query.offset > 0 ? query.with { $0.offset += 1 } : query }
        }
        StoreMutant(.query, "offset-alone", "An offset without a limit is ignored.", killedBy: "window.offset", "window.offset-beyond", saying: "offset 13") {
            $0.asking { query in query.limit == nil ? query.with { $0.offset = 0 } : query }
        }
        StoreMutant(.query, "limit-first", "The limit comes before the offset.", killedBy: "window.both", saying: "offset 2 limit 2") {
            $0.asking { query in query.with { $0.limit = query.limit.map { max(0, $0 - query.offset) } } }
        }
        StoreMutant(.query, "window-first", "The window comes before the order.", killedBy: "window.ordered", saying: "limit 1") {
            $0.answering { found, query in found }
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let window = try snapshot.items(matching: query.with { $0.orderings = [] }).items
                let sorted = query.with { ($0.filter, $0.limit, $0.offset) = (nil, nil, 0) }.apply(to: window).items
                return hits.changing(right, to: QueryResult(items: sorted, totalCount: right.totalCount))
            }
        }
        StoreMutant(.query, "filter-last", "The filter comes after the window.", killedBy: "window.filtered", saying: "offset 1 limit 1") {
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let window = try snapshot.items(matching: query.with { ($0.filter, $0.selection) = (nil, []) }).items
                let left = window.filter { query.filter?.matches($0) ?? true }.map(query.selecting)
                return hits.changing(right, to: QueryResult(items: left, totalCount: right.totalCount))
            }
        }
        StoreMutant(.query, "total-of-page", "The total count is that of the page.", killedBy: "window.total", "window.limit", saying: "total count") {
            $0.answering { found, _ in QueryResult(items: found.items, totalCount: found.totalCount.map { _ in found.items.count }) }
        }
        StoreMutant(.query, "total-of-table", "The total count is that of the table.", killedBy: "query.equal", "order.filtered", saying: "total count") {
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let all = try snapshot.items(matching: TableQuery(query.table).includingTotalCount()).totalCount
                return hits.changing(right, to: QueryResult(items: right.items, totalCount: right.totalCount.flatMap { _ in all }))
            }
        }
        StoreMutant(.query, "total-always", "The total count comes unasked.", killedBy: "window.limit", saying: "the total count that nobody asked for") {
            $0.answering { found, _ in QueryResult(items: found.items, totalCount: found.totalCount ?? found.items.count) }
        }
        StoreMutant(.query, "total-none", "An empty result has no total count.", killedBy: "query.none", saying: "the result") {
            $0.answering { found, _ in found.items.isEmpty ? QueryResult(items: []) : found }
        }
        StoreMutant(.query, "selects-all", "The selection is ignored.", killedBy: "select.fields", "select.twice", saying: "select label, count") {
            $0.asking { $0.with { $0.selection = [] } }
        }
        StoreMutant(.query, "selects-null", "A selected field that is missing comes as null.", killedBy: "select.missing", saying: "select note, flag") {
            $0.answering { found, query in
                QueryResult(
                    items: found.items.map { item in
                        var item = item
                        for name in query.selection where item[name] == nil { item[name] = .null }
                        return item
                    }, totalCount: found.totalCount)
            }
        }
        StoreMutant(.query, "selects-without-system", "A selection leaves the system properties out.", killedBy: "select.id", "select.system", saying: "select") {
            $0.answering { found, query in
                query.selection.isEmpty
                    ? found : QueryResult(items: found.items.map { Item(id: $0.id, fields: $0.fields) }, totalCount: found.totalCount)
            }
        }
        StoreMutant(.query, "selects-first", "Filter and order see the selected fields only.", killedBy: "select.unselected", saying: "select label") {
            $0.items = { [hits = $0.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                let cut = try snapshot.items(matching: TableQuery(query.table)).items.map(query.selecting)
                return hits.changing(right, to: query.apply(to: cut))
            }
        }
        StoreMutant(.query, "parameters", "Parameters for the server filter here.", killedBy: "query.parameters", saying: "count") {
            $0.asking { $0.parameters.isEmpty ? $0 : $0.where(.always(false)) }
        }
    }

    /// Orders that are wrong.
    @MutantList static var orders: [StoreMutant] {
        StoreMutant(.order, "as-put", "Without an order, items come in no order.", killedBy: "order.none", "order.id-bytes", "item.id.digits", saying: "ids of Thing") {
            $0.ordering { query, left, right in
                query.orderings.isEmpty ? ExactHash.of(left.id.utf8) < ExactHash.of(right.id.utf8) : query.precedes(left, right)
            }
        }
        StoreMutant(.order, "random", "Items of one order come as it happens.", killedBy: "order.none", "model.repeats", "concurrent.readers", saying: "ids of Thing") {
            $0.answering { found, query in QueryResult(items: found.items.shuffled(), totalCount: found.totalCount) }
        }
        StoreMutant(.order, "ignored", "The order is ignored.", killedBy: "order.ascending", "order.bool", "order.date", "order.data", "order.two-keys", "order.system", "order.double", saying: "by column(\"count\")") {
            $0.asking { $0.with { $0.orderings = [] } }
        }
        StoreMutant(.order, "always-ascending", "Descending is ascending.", killedBy: "order.descending", "order.id-descending", saying: "descending") {
            $0.asking { $0.with { $0.orderings = $0.orderings.map { Ordering($0.expression) } } }
        }
        StoreMutant(.order, "first-key", "Only the first key counts.", killedBy: "order.two-keys", saying: "by column(\"mark\")") {
            $0.asking { $0.with { $0.orderings = Array($0.orderings.prefix(1)) } }
        }
        StoreMutant(.order, "nulls-last", "Nulls come last.", killedBy: "order.ascending", "order.system", saying: "by column(\"count\")") {
            $0.ordering { query, left, right in
                guard let first = query.orderings.first else { return query.precedes(left, right) }
                let nulls = (first.expression.value(for: left).isNull, first.expression.value(for: right).isNull)
                return nulls.0 == nulls.1 ? query.precedes(left, right) : nulls.1
            }
        }
        StoreMutant(.order, "ties-descending", "Under a descending order ties go by descending id.", killedBy: "order.descending", "order.bool", saying: "descending") {
            $0.asking { query in
                query.orderings.last?.isDescending == true ? query.with { $0.orderings.append(Ordering(.column("id"), isDescending: true)) } : query
            }
        }
        StoreMutant(.order, "ties-by-version", "Ties go by version.", killedBy: "order.bool", "order.system", saying: "by column(\"flag\")") {
            $0.asking { query in query.orderings.isEmpty ? query : query.with { $0.orderings.append(Ordering(.column("version"))) } }
        }
        StoreMutant(.order, "case-blind", "Texts are ordered as in a dictionary.", killedBy: "order.text", "corpus.order", saying: "by column(\"label\")") {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("label"), query.orderings.first?.isDescending == false,
                    let first = left["label"]?.textValue?.lowercased(), let second = right["label"]?.textValue?.lowercased(), first != second
                else { return query.precedes(left, right) }
                return first < second
            }
        }
        StoreMutant(.order, "utf16", "Ids are ordered by their UTF-16 units.", killedBy: "order.id-bytes", "corpus.id", saying: "all ids") {
            $0.ordering { query, left, right in
                query.orderings.isEmpty ? left.id.utf16.lexicographicallyPrecedes(right.id.utf16) : query.precedes(left, right)
            }
        }
        StoreMutant(.order, "zero-signs", "Negative zero comes before zero.", killedBy: "order.double", saying: "by column(\"ratio\")") {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("ratio"), let first = left["ratio"]?.doubleValue, let second = right["ratio"]?.doubleValue,
                    first == 0, second == 0, first.sign != second.sign
                else { return query.precedes(left, right) }
                return first.sign == .plus
            }
        }
        StoreMutant(.order, "date-digits", "Dates of one instant are a tie.", killedBy: "order.date", saying: "by column(\"due\") descending") {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("due"), let first = left["due"]?.dateValue, let second = right["due"]?.dateValue,
                    first.isSameInstant(as: second)
                else { return query.precedes(left, right) }
                return left.id < right.id
            }
        }
        StoreMutant(.order, "integers-as-doubles", "Integers are ordered as doubles.", killedBy: "order.ascending", saying: "by column(\"count\")") {
            $0.ordering { query, left, right in
                guard query.orderings.first?.expression == .column("count"), let first = left["count"]?.doubleValue, let second = right["count"]?.doubleValue,
                    first == second
                else { return query.precedes(left, right) }
                return left.id < right.id
            }
        }
    }
}

extension TableQuery {
    func with(_ change: (inout TableQuery) -> Void) -> TableQuery {
        var copy = self
        change(&copy)
        return copy
    }
}
