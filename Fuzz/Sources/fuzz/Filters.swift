// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import ODataParsing
@_spi(StoreAuthor) @testable import SyncCore

private let fields: [String: ItemValue] = [
    "text": "O'Brien\u{301} 😀%_", "empty": "", "flag": true, "count": 9_007_199_254_740_993, "minus": -7,
    "price": 2.5, "due": .date(Timestamp("2024-02-29T21:59:58.123Z") ?? .unixEpoch), "nothing": .null,
]

private let definition = SyncTableDefinition(
    "T",
    columns: [
        SyncColumn("text", .text), SyncColumn("empty", .text), SyncColumn("nothing", .text),
        SyncColumn("flag", .bool), SyncColumn("count", .integer), SyncColumn("minus", .integer),
        SyncColumn("price", .double), SyncColumn("due", .date),
    ])

private let item = Item(id: "a", fields: fields)

private let row = TableRow(id: "a", fields: fields)

private let columns: ColumnNames = {
    var columns = ColumnNames()
    for name in fields.keys { columns.add(name) }
    return columns
}()

/// A valid filter is printed as text that a server parses, and both find that the row matches, or that it does not.
func checkFilter(_ input: Data) {
    var bytes = ByteConsumer(input)
    let filter = bytes.filter(depth: 0)
    guard (try? TableQuery("T").where(filter).validate(against: definition)) != nil,
        let text = try? filter.odata(.v2)
    else { return }
    do {
        let parsed = try ODataParser.parse(text, columns: columns)
        require(
            parsed.matches(row) == filter.matches(item),
            "The server and the client disagree about a filter: \(text)")
    } catch {
        fatalError("The server refuses the filter, \(error): \(text)")
    }
}

/// Any text of a filter is parsed or refused, and a parsed filter can be evaluated.
func checkFilterText(_ input: Data) {
    let text = String(decoding: input, as: UTF8.self)
    do {
        _ = try ODataParser.parse(text, columns: columns).matches(row)
    } catch {
        require((0...text.utf8.count).contains(error.offset), "The error is at byte \(error.offset).")
    }
    // The text as a constant and as a column.
    for filter in [
        Filter.comparison(.equal, .column("text"), .constant(.text(text))),
        Filter.comparison(.equal, .column(text), .constant(1)),
    ] {
        guard let printed = try? filter.odata(.v2) else { continue }
        guard let parsed = try? ODataParser.parse(printed, columns: columns) else {
            fatalError("The server refuses the filter: \(printed)")
        }
        if case .comparison(_, .column(let column), .constant(let constant)) = filter {
            require(
                parsed == .comparison(.eq, .column(ODataColumn(column, in: columns)), .literal(constant)),
                "The filter has another structure: \(printed)")
        }
    }
}

extension ByteConsumer {
    fileprivate mutating func filter(depth: Int) -> Filter {
        let isLeaf = depth > 6 || isAtEnd
        switch below(isLeaf ? 5 : 8) {
        case 0: return .always(byte() & 1 == 1)
        case 1:
            return .comparison(
                element(of: Filter.Comparison.allCases), expression(depth: depth), expression(depth: depth))
        case 2: return .nullTest(expression(depth: depth))
        case 3: return .membership(expression(depth: depth), (0..<below(4)).map { _ in constant() })
        case 4:
            return .text(
                element(of: Filter.TextTest.allCases), expression(depth: depth), expression(depth: depth))
        case 5: return .all((0..<below(4)).map { _ in filter(depth: depth + 1) })
        case 6: return .any((0..<below(4)).map { _ in filter(depth: depth + 1) })
        default: return .not(filter(depth: depth + 1))
        }
    }

    private mutating func expression(depth: Int) -> FilterExpression {
        switch below(depth > 6 || isAtEnd ? 2 : 4) {
        case 0: return .column(element(of: definition.columns.map(\.name) + ["id"]))
        case 1: return .constant(constant())
        case 2:
            return .arithmetic(
                element(of: FilterExpression.Arithmetic.allCases), expression(depth: depth + 1),
                expression(depth: depth + 1))
        default:
            let function = element(of: FilterExpression.Function.allCases)
            return .call(function, (0..<function.arity).map { _ in expression(depth: depth + 1) })
        }
    }

    private mutating func constant() -> ItemValue {
        switch below(7) {
        case 0: return .text(text())
        case 1: return .int(Int64(Int8(bitPattern: byte())))
        case 2: return .int(Int64(bitPattern: uint64()))
        case 3: return .double(Double(bitPattern: uint64()))
        case 4: return .bool(byte() & 1 == 1)
        case 5:
            let seconds = Int64(uint64() % 250_000_000_000) - 60_000_000_000
            return .date(Timestamp(seconds: seconds, fractionDigits: below(10)) ?? .unixEpoch)
        default: return .null
        }
    }
}
