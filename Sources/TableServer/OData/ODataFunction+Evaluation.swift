// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension ODataFunction {
    /// Calls the function. Returns null when an argument is null or has the wrong type.
    func apply(_ arguments: [ItemValue]) -> ItemValue {
        switch self {
        case .startswith: Self.onTexts(arguments) { .bool($0.utf8.starts(with: $1.utf8)) }
        case .endswith: Self.onTexts(arguments) { .bool($0.utf8.reversed().starts(with: $1.utf8.reversed())) }
        case .substringof: Self.onTexts(arguments) { .bool($1.scalarIndex(of: $0) != nil) }
        case .contains: Self.onTexts(arguments) { .bool($0.scalarIndex(of: $1) != nil) }
        case .indexof: Self.onTexts(arguments) { .int(Int64($0.scalarIndex(of: $1) ?? -1)) }
        case .concat: Self.onTexts(arguments) { .text($0 + $1) }
        case .tolower: Self.onText(arguments) { .text($0.lowercased()) }
        case .toupper: Self.onText(arguments) { .text($0.uppercased()) }
        case .trim: Self.onText(arguments) { .text($0.trimmingWhitespace) }
        case .length: Self.onText(arguments) { .int(Int64($0.unicodeScalars.count)) }
        case .year: Self.onDate(arguments, digits: 0..<4)
        case .month: Self.onDate(arguments, digits: 5..<7)
        case .day: Self.onDate(arguments, digits: 8..<10)
        case .hour: Self.onDate(arguments, digits: 11..<13)
        case .minute: Self.onDate(arguments, digits: 14..<16)
        case .second: Self.onDate(arguments, digits: 17..<19)
        case .round: Self.onNumber(arguments, .toNearestOrAwayFromZero)
        case .floor: Self.onNumber(arguments, .down)
        case .ceiling: Self.onNumber(arguments, .up)
        }
    }

    private static func onText(_ arguments: [ItemValue], _ body: (String) -> ItemValue) -> ItemValue {
        arguments[0].textValue.map(body) ?? .null
    }

    private static func onTexts(
        _ arguments: [ItemValue], _ body: (String, String) -> ItemValue
    ) -> ItemValue {
        guard let first = arguments[0].textValue, let second = arguments[1].textValue else { return .null }
        return body(first, second)
    }

    private static func onNumber(_ arguments: [ItemValue], _ rule: FloatingPointRoundingRule) -> ItemValue {
        switch arguments[0] {
        case .int(let value): .int(value)
        case .double(let value): .double(value.rounded(rule))
        default: .null
        }
    }

    /// Returns the part of a date at these positions of its UTC text form.
    private static func onDate(_ arguments: [ItemValue], digits: Range<Int>) -> ItemValue {
        let date = arguments[0].dateValue ?? arguments[0].textValue.flatMap { Timestamp($0) }
        guard let text = date?.localText else { return .null }
        return Int64(text.dropFirst(digits.lowerBound).prefix(digits.count)).map(ItemValue.int) ?? .null
    }
}

extension ODataFunction {
    /// Whether the call searches in a text for one that is longer than the limit.
    func exceedsLimit(_ arguments: [ItemValue]) -> Bool {
        guard arguments.allSatisfy({ $0.textValue != nil }) else { return false }
        let pattern =
            switch self {
            case .substringof: arguments[0].textValue
            case .contains, .indexof: arguments[1].textValue
            default: nil as String?
            }
        guard let pattern, pattern.utf8.count > SubstringSearch.maxPatternLength else { return false }
        return pattern.unicodeScalars.count > SubstringSearch.maxPatternLength
    }
}
