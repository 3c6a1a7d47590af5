// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
@_spi(StoreAuthor) import SyncCore

extension StoreMutant {
    /// Errors in text tests, functions and arithmetic.
    @MutantList static var expressions: [StoreMutant] {
        StoreMutant(
            .query, "wildcards", "Percent and underscore are wildcards.", killedBy: "query.part.wildcards",
            "corpus.part", message: "label"
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
            .query, "part-case", "Text tests are case-insensitive.", killedBy: "query.part.case",
            "query.contains",
            message: "label"
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
            .query, "contains-as-prefix", "Contains compares only the beginning.", killedBy: "query.contains",
            "query.part.quotes", message: "label"
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
            .query, "prefix-as-contains", "Has prefix searches the whole string.", killedBy: "query.prefix",
            "query.part.computed", message: "label"
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
            .query, "suffix-as-contains", "Has suffix searches the whole string.", killedBy: "query.suffix",
            message: "label"
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
            .query, "part-by-character", "Text tests compare grapheme clusters.",
            killedBy: "query.part.bytes", message: "label"
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
            message: "label"
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
            "lowercase", "Lowercasing does nothing.", .tolower, killedBy: "query.lowercase",
            also: ["query.part.computed"]
        ) { $0.first ?? .null }
        calling("uppercase-ascii", "Uppercasing is limited to ASCII.", .toupper, killedBy: "query.uppercase")
        {
            arguments in
            guard let text = arguments.first?.textValue else { return .null }
            return .text(String(text.map { $0.isASCII ? Character($0.uppercased()) : $0 }))
        }
        calling("trim-spaces", "Trim removes only leading spaces.", .trim, killedBy: "query.trim") {
            arguments in
            guard let text = arguments.first?.textValue else { return .null }
            return .text(String(text.drop { $0 == " " }))
        }
        calling("concat-null", "Concat treats null as the empty string.", .concat, killedBy: "query.concat") {
            arguments in
            .text(arguments.compactMap(\.textValue).joined())
        }
        calling(
            "length-characters", "Length counts grapheme clusters.", .length,
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
        calling("month-from-zero", "Months are numbered from 0.", .month, killedBy: "query.date.parts") {
            arguments in
            FilterExpression.Function.month.apply(arguments).intValue.map { .int($0 - 1) } ?? .null
        }
        calling(
            "second-before-1970", "Seconds before 1970 are negative.", .second,
            killedBy: "query.date.parts-before-1970"
        ) { arguments in
            arguments.first?.dateValue.map { .int($0.seconds % 60) } ?? .null
        }
        calling("round-even", "Halves are rounded to even.", .round, killedBy: "query.round") { arguments in
            arguments.first?.doubleValue.map { .double($0.rounded(.toNearestOrEven)) } ?? .null
        }
        calling("floor-truncates", "Floor rounds toward zero.", .floor, killedBy: "query.floor") {
            arguments in
            arguments.first?.doubleValue.map { .double($0.rounded(.towardZero)) } ?? .null
        }
        calling(
            "ceiling-rounds", "Ceiling rounds to the nearest integer.", .ceiling, killedBy: "query.ceiling"
        ) {
            arguments in
            arguments.first?.doubleValue.map { .double($0.rounded()) } ?? .null
        }
        calculating("add-doubles", "Sums are doubles.", .add, killedBy: "query.add", message: "count") {
            left, right in
            guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
            return .double(a + b)
        }
        calculating(
            "subtract-doubles", "Differences are doubles.", .sub, killedBy: "query.add", message: "count"
        ) { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue else { return .null }
            return .double(a - b)
        }
        calculating(
            "add-null", "Addition treats null as 0.", .add, killedBy: "query.arithmetic.null",
            message: "count"
        ) { left, right in
            FilterExpression.Arithmetic.add.apply(left.isNull ? 0 : left, right)
        }
        calculating(
            "multiply-whole", "Products are truncated to integers.", .mul, killedBy: "query.multiply",
            message: "ratio"
        ) { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue, max(abs(a), abs(b)) < 1e9 else {
                return .null
            }
            return .int(Int64(a) * Int64(b))
        }
        calculating(
            "divide-real", "Integer division returns fractions.", .div, killedBy: "query.divide",
            message: "count"
        ) { left, right in
            guard let a = left.doubleValue, let b = right.doubleValue, b != 0 else { return .null }
            return .double(a / b)
        }
        calculating(
            "divide-zero", "Division by zero is 0.", .div, killedBy: "query.divide.zero",
            message: "count"
        ) { left, right in
            right.doubleValue == 0 ? 0 : FilterExpression.Arithmetic.div.apply(left, right)
        }
        calculating(
            "remainder-positive", "A remainder is never negative.", .mod, killedBy: "query.remainder",
            message: "count"
        ) { left, right in
            guard let rest = FilterExpression.Arithmetic.mod.apply(left, right).intValue else { return .null }
            return .int(abs(rest))
        }
        calculating(
            "wraps", "Sums beyond 64 bits wrap.", .add, killedBy: "query.overflow", message: "count"
        ) { left, right in
            guard let a = left.intValue, let b = right.intValue else {
                return FilterExpression.Arithmetic.add.apply(left, right)
            }
            return .int(a &+ b)
        }
        calculating(
            "divide-least", "The minimum integer divided by -1 is null.", .div,
            killedBy: "query.overflow.divide", message: "count"
        ) { left, right in
            left == .int(.min) && right == -1 ? .null : FilterExpression.Arithmetic.div.apply(left, right)
        }
    }

    private static func calling(
        _ name: String, _ flaw: String, _ function: FilterExpression.Function, killedBy killer: String,
        also others: [String] = [], _ compute: @escaping @Sendable ([ItemValue]) -> ItemValue
    ) -> StoreMutant {
        StoreMutant(.query, name, flaw, killers: [killer] + others, message: "\(function)") {
            $0.computing { expression, item in
                guard case .call(function, let arguments) = expression else { return nil }
                return compute(arguments.map { $0.value(for: item) })
            }
        }
    }

    private static func calculating(
        _ name: String, _ flaw: String, _ operation: FilterExpression.Arithmetic, killedBy killers: String...,
        message: String, _ compute: @escaping @Sendable (ItemValue, ItemValue) -> ItemValue
    ) -> StoreMutant {
        StoreMutant(.query, name, flaw, killers: killers, message: message) {
            $0.computing { expression, item in
                guard case .arithmetic(operation, let left, let right) = expression else { return nil }
                return compute(left.value(for: item), right.value(for: item))
            }
        }
    }
}
