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
            holds = { value in
                if case .int(let value) = value { return comparison.holds(ValueOrder(value, int)) }
                return comparison.holds(value, constant, nullTests: false)
            }
            holdsForUTF8 = { _ in nil }
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
