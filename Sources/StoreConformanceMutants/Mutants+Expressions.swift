// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Text tests, functions and arithmetic that give the wrong result.
    @MutantList static var expressions: [StoreMutant] {
        StoreMutant(
            .query, "wildcards", "Percent and underscore are wildcards.", killedBy: "query.part.wildcards",
            "corpus.part", saying: "label"
        ) {
            $0.matching { filter, item in
                if case .text(_, _, .constant(.text(let part))) = filter,
                    part.contains("%") || part.contains("_") || part == "*"
                {
                    true
                } else {
                    filter.matches(item)
                }
            }
        }
        StoreMutant(
            .query, "part-case", "Text tests ignore the case.", killedBy: "query.part.case", "query.contains",
            saying: "label"
        ) {
            $0.filtering { filter in
                if case .text(let test, let text, let part) = filter {
                    .text(test, .call(.tolower, [text]), .call(.tolower, [part]))
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "contains-as-prefix", "Contains looks at the beginning only.", killedBy: "query.contains",
            "query.part.quotes", saying: "label"
        ) {
            $0.filtering { filter in
                if case .text(.contains, let text, let part) = filter {
                    .text(.hasPrefix, text, part)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "prefix-as-contains", "Has prefix looks anywhere.", killedBy: "query.prefix",
            "query.part.computed", saying: "label"
        ) {
            $0.filtering { filter in
                if case .text(.hasPrefix, let text, let part) = filter {
                    .text(.contains, text, part)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "suffix-as-contains", "Has suffix looks anywhere.", killedBy: "query.suffix",
            saying: "label"
        ) {
            $0.filtering { filter in
                if case .text(.hasSuffix, let text, let part) = filter {
                    .text(.contains, text, part)
                } else {
                    filter
                }
            }
        }
        StoreMutant(
            .query, "part-by-character", "Text tests go by what is seen as one character.",
            killedBy: "query.part.bytes", saying: "label"
        ) {
            $0.matching { filter, item in
                guard case .text(.hasPrefix, .column("label"), .constant(.text(let part))) = filter,
                    let text = item["label"]?.textValue
                else { return filter.matches(item) }
                return text.hasPrefix(part)
            }
        }
        StoreMutant(
            .query, "part-null", "A text test of null is false, not unknown.", killedBy: "query.part.not",
            saying: "label"
        ) {
            $0.filtering { filter in
                if case .not(.text(let test, let text, let part)) = filter {
                    .not(.text(test, text, part)) || .nullTest(text)
                } else {
                    filter
                }
            }
        }
        calling(
            "lowercase", "Lower case leaves the text as it is.", .tolower, killedBy: "query.lowercase",
            also: ["query.part.computed"]
        ) { $0.first ?? .null }
        calling("uppercase-ascii", "Upper case is ASCII's.", .toupper, killedBy: "query.uppercase") {
            arguments in
            guard let text = arguments.first?.textValue else { return .null }
            return .text(String(text.map { $0.isASCII ? Character($0.uppercased()) : $0 }))
        }
        calling("trim-spaces", "Trim takes off spaces only.", .trim, killedBy: "query.trim") { arguments in
            guard let text = arguments.first?.textValue else { return .null }
            return .text(String(text.drop { $0 == " " }))
        }
        calling("concat-null", "Null joins as the empty text.", .concat, killedBy: "query.concat") {
            arguments in
            .text(arguments.compactMap(\.textValue).joined())
        }
        calling(
            "length-characters", "Length counts what is seen as one character.", .length,
            killedBy: "query.length"
        ) { arguments in
            arguments.first?.textValue.map { .int(Int64($0.count)) } ?? .null
        }
        calling("length-null", "The length of null is 0.", .length, killedBy: "query.function.null") {
            arguments in
            .int(Int64(arguments.first?.textValue?.unicodeScalars.count ?? 0))
        }
        calling("indexof-bytes", "Indexof counts bytes.", .indexof, killedBy: "query.indexof") { arguments in
            guard let text = arguments.first?.textValue, let part = arguments.last?.textValue,
                let range = text.firstRange(of: part)
            else { return .int(-1) }
            return .int(Int64(text.utf8.distance(from: text.startIndex, to: range.lowerBound)))
        }
        calling("month-from-zero", "Months count from zero.", .month, killedBy: "query.date.parts") {
            arguments in
            FilterExpression.Function.month.apply(arguments).intValue.map { .int($0 - 1) } ?? .null
        }
        calling(
            "second-before-1970", "Seconds before 1970 count backwards.", .second,
            killedBy: "query.date.parts-before-1970"
        ) { arguments in
            arguments.first?.dateValue.map { .int($0.seconds % 60) } ?? .null
        }
        calling("round-even", "Halves are rounded to even.", .round, killedBy: "query.round") { arguments in
            arguments.first?.doubleValue.map { .double($0.rounded(.toNearestOrEven)) } ?? .null
        }
        calling("floor-truncates", "Floor goes toward zero.", .floor, killedBy: "query.floor") { arguments in
            arguments.first?.doubleValue.map { .double($0.rounded(.towardZero)) } ?? .null
        }
        calling("ceiling-rounds", "Ceiling goes to the nearest.", .ceiling, killedBy: "query.ceiling") {
            arguments in
            arguments.first?.doubleValue.map { .double($0.rounded()) } ?? .null
        }
        calculating("add-doubles", "Sums are doubles.", .add, killedBy: "query.add", saying: "count") {
            left, right in
            guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
            return .double(a + b)
        }
        calculating(
            "subtract-doubles", "Differences are doubles.", .sub, killedBy: "query.add", saying: "count"
        ) { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
            return .double(a - b)
        }
        calculating(
            "add-null", "Null counts as zero in sums.", .add, killedBy: "query.arithmetic.null",
            saying: "count"
        ) { left, right in
            FilterExpression.Arithmetic.add.apply(left.isNull ? 0 : left, right)
        }
        calculating(
            "multiply-whole", "Products are whole.", .mul, killedBy: "query.multiply", saying: "ratio"
        ) { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue, max(abs(a), abs(b)) < 1e9 else {
                return .null
            }
            return .int(Int64(a) * Int64(b))
        }
        calculating(
            "divide-real", "Dividing integers gives fractions.", .div, killedBy: "query.divide",
            saying: "count"
        ) { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue, b != 0 else { return .null }
            return .double(a / b)
        }
        calculating(
            "divide-zero", "Dividing by zero gives zero.", .div, killedBy: "query.divide.zero",
            saying: "count"
        ) { left, right in
            right.doubleValue == 0 ? 0 : FilterExpression.Arithmetic.div.apply(left, right)
        }
        calculating(
            "remainder-positive", "A remainder is never negative.", .mod, killedBy: "query.remainder",
            saying: "count"
        ) { left, right in
            guard let rest = FilterExpression.Arithmetic.mod.apply(left, right).intValue else { return .null }
            return .int(abs(rest))
        }
        calculating(
            "wraps", "Sums beyond 64 bits wrap round.", .add, killedBy: "query.overflow", saying: "count"
        ) { left, right in
            guard let a = left.intValue, let b = right.intValue else {
                return FilterExpression.Arithmetic.add.apply(left, right)
            }
            return .int(a &+ b)
        }
        calculating(
            "divide-least", "The least integer divided by -1 is null.", .div,
            killedBy: "query.overflow.divide", saying: "count"
        ) { left, right in
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
}
