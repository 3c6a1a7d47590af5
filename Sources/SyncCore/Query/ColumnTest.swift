// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A condition on the value of one column, prepared for many values.
///
/// Both functions follow the rules of ``Filter/matches(_:)``.
struct ColumnTest: Sendable {
    /// Whether the test is true for the value, or `nil` for unknown.
    let holds: @Sendable (ItemValue) -> Bool?
    /// Whether the test is true for the text with these UTF-8 bytes, or `nil` for unknown. No string is made of them.
    let holdsForUTF8: @Sendable (UnsafeRawBufferPointer) -> Bool?
    /// The test is true for these integers, and false for all others; `nil` if they are not a range.
    var integers: IntegerRange?

    /// Returns the column and its test, if the filter is a condition on the value of one field.
    static func make(_ filter: Filter) -> (column: String, test: ColumnTest)? {
        let (name, test): (String, ColumnTest)
        switch filter {
        case .comparison(let comparison, .column(let column), .constant(let constant)):
            (name, test) = (column, ColumnTest(comparison, constant))
        // A constant null on the left is no null test.
        case .comparison(let comparison, .constant(let constant), .column(let column)) where !constant.isNull:
            (name, test) = (column, ColumnTest(comparison.mirrored, constant))
        case .nullTest(.column(let column)):
            (name, test) = (column, ColumnTest(holds: \.isNull, holdsForUTF8: { _ in false }))
        case .membership(.column(let column), let constants):
            (name, test) = (column, ColumnTest(among: constants))
        case .text(let textTest, .column(let column), .constant(.text(let part))):
            (name, test) = (column, ColumnTest(textTest, part))
        default: return nil
        }
        return Item.isField(name) ? (name, test) : nil
    }
}

extension ColumnTest {
    private init(_ comparison: Filter.Comparison, _ constant: ItemValue) {
        switch constant {
        case .text(let text):
            holds = { comparison.holds($0, constant, nullTests: false) }
            let bytes = Array(text.utf8)
            holdsForUTF8 = { text in
                comparison.holds(ValueOrder(bytes.withUnsafeBytes(text.byteOrder), 0))
            }
        case .int(let int):
            holds = { comparison.holds($0, constant, nullTests: false) }
            holdsForUTF8 = { _ in nil }
            integers = IntegerRange(comparison, int)
        default:
            holds = { comparison.holds($0, constant, nullTests: constant.isNull) }
            // The same for each text, because text cannot be compared with the constant.
            let result = holds(.text(""))
            holdsForUTF8 = { _ in result }
        }
    }

    private init(among constants: [ItemValue]) {
        holds = { Filter.membership(of: $0, in: constants) }
        let texts = constants.compactMap { $0.textValue.map { Array($0.utf8) } }
        let otherwise: Bool? = constants.contains(where: \.isNull) ? nil : false
        holdsForUTF8 = { text in
            texts.contains { $0.withUnsafeBytes(text.hasSameBytes) } ? true : otherwise
        }
    }

    private init(_ test: Filter.TextTest, _ part: String) {
        holds = { value in value.textValue.map { test.holds($0, part) } }
        let bytes = Array(part.utf8)
        holdsForUTF8 = { text in bytes.withUnsafeBytes { test.holds(text, $0) } }
    }
}

/// Integers from the first to the last one; none if the last one is less.
struct IntegerRange: Sendable {
    private var first = Int64.min
    private var last = Int64.max

    /// All integers.
    init() {}

    /// The integers for which a comparison with the constant is true; `nil` if they are not a range.
    init?(_ comparison: Filter.Comparison, _ constant: Int64) {
        switch comparison {
        case .equal: (first, last) = (constant, constant)
        case .notEqual: return nil
        case .lessOrEqual: last = constant
        case .greaterOrEqual: first = constant
        // Nothing is less than the least integer, or greater than the greatest.
        case .less: (first, last) = constant == .min ? (1, 0) : (.min, constant - 1)
        case .greater: (first, last) = constant == .max ? (1, 0) : (constant + 1, .max)
        }
    }

    func contains(_ integer: Int64) -> Bool { first <= integer && integer <= last }

    func intersection(_ other: IntegerRange) -> IntegerRange {
        var range = self
        (range.first, range.last) = (max(first, other.first), min(last, other.last))
        return range
    }
}
