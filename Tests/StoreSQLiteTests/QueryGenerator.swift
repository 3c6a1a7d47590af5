// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

import struct Foundation.Data

/// Generates items of the table `Thing` and valid queries on it, from few values, so that many of them match.
struct QueryGenerator {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func pick<T>(_ values: [T], _ fallback: T) -> T {
        values.randomElement(using: &random) ?? fallback
    }

    // MARK: Items

    private static let columnsByType: [ColumnType: [String]] = [
        .bool: ["flag"], .integer: ["count", "other"], .double: ["size", "ratio"],
        .text: ["text", "note", "id", "version"], .date: ["due", "done", "createdAt"], .data: ["blob"],
        .json: ["extra"],
    ]

    mutating func item(_ index: Int) -> Item {
        var item = Item(id: pick(["", "é", "e\u{301}", "A", "a", "💩"], "") + String(index))
        for column in Things.definition.columns where chance(75) {
            item.fields[column.name] = chance(12) ? .null : value(of: column.type)
        }
        if chance(60) { item.system.version = value(of: .text).textValue }
        if chance(60) { item.system.createdAt = value(of: .date).dateValue }
        return item
    }

    private static let ints: [Int64] = [
        0, 1, -1, 2, 3, 7, -7, .max, .min, .max - 1, 9_007_199_254_740_992, 9_007_199_254_740_993,
        -9_007_199_254_740_993, 4_611_686_018_427_387_904,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, 3, 0.1, 0x1p53, 0x1p63, -0x1p63, 1e300, -1e300,
        .leastNonzeroMagnitude,
    ]
    private static let texts = [
        "", "a", "A", "ab", "b", "aé", "ae\u{301}", "é", "É", "a\0", "a\0b", "\0", " a ", "ß", "SS", "💩",
        "\u{FFFD}", "\u{10FFFF}", "%", "_", "1", "1.0", "\t", "\u{7F}", "\u{80}",
    ]
    private static let dates = [
        "2014-05-30T18:30:00Z", "2014-05-30T18:30:00.0Z", "2014-05-30T18:30:00.000000000Z",
        "2014-05-30T18:30:00.1Z", "2014-05-30T18:30:00.10Z", "2014-05-30T18:30:00.100Z",
        "2014-05-30T18:30:00.100000001Z", "2014-05-30T18:29:59.999999999Z", "2014-05-30T18:30:01Z",
        "0001-01-01T00:00:00Z", "1969-12-31T23:59:59.5Z", "9999-12-31T23:59:59.999999999Z",
        "2014-05-30T20:00:00Z", "2014-05-30T20:00:00.00Z",
    ]
    private static let blobs: [[UInt8]] = [[], [0], [0, 0], [0, 1], [1], [255], [255, 0], [128]]
    private static let documents: [ItemValue] = [1, "a", [], [:], true, ["a": [nil]]]

    mutating func value(of type: ColumnType) -> ItemValue {
        switch type {
        case .bool: .bool(chance(50))
        case .integer: .int(pick(Self.ints, 0))
        case .double: .double(pick(Self.doubles, 0))
        case .text: .text(pick(Self.texts, ""))
        case .date: Timestamp(pick(Self.dates, "")).map(ItemValue.date) ?? .null
        case .data: .data(Data(pick(Self.blobs, [])))
        case .json: pick(Self.documents, .null)
        }
    }

    // MARK: Queries

    mutating func query() -> TableQuery {
        var query = TableQuery("Thing")
        if chance(95) { query.filter = filter(depth: Int.random(in: 0...4, using: &random)) }
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let type = pick([.bool, .integer, .double, .text, .date, .data], ColumnType.text)
            query.orderings.append(Ordering(.column(column(of: type)), isDescending: chance(50)))
        }
        if chance(5) { query.orderings.append(Ordering(.column("deleted"))) }
        if chance(40) { query.limit = pick([0, 1, 3, 10, .max], 1) }
        if chance(30) { query.offset = pick([0, 1, 5, .max], 1) }
        if chance(30) {
            query.selection = [pick(["flag", "size", "id"], "id"), pick(["text", "extra"], "text")]
        }
        query.includesTotalCount = chance(50)
        return query
    }

    private mutating func column(of type: ColumnType) -> String { pick(Self.columnsByType[type] ?? [], "id") }

    mutating func filter(depth: Int) -> Filter {
        if depth > 0 {
            switch Int.random(in: 0..<5, using: &random) {
            case 0: return .all(filters(depth: depth - 1))
            case 1: return .any(filters(depth: depth - 1))
            case 2, 3: return .not(filter(depth: depth - 1))
            default: break
            }
        }
        let type = pick([.bool, .integer, .double, .text, .date, .data], ColumnType.text)
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return .always(chance(50))
        case 1: return .nullTest(chance(20) ? .column("extra") : expression(type, depth: 1))
        case 2, 3: return .membership(expression(type, depth: 1), constants(comparableWith: type))
        case 4, 5:
            let part = chance(70) ? FilterExpression.constant(value(of: .text)) : expression(.text, depth: 1)
            let test = Filter.TextTest.allCases.randomElement(using: &random) ?? .contains
            return .text(test, expression(.text, depth: 1), part)
        default:
            let comparison = Filter.Comparison.allCases.randomElement(using: &random) ?? .equal
            var sides = [expression(type, depth: 2), operand(comparableWith: type)]
            if chance(25) { sides.reverse() }
            return .comparison(comparison, sides[0], sides[1])
        }
    }

    private mutating func filters(depth: Int) -> [Filter] {
        (0..<Int.random(in: 0...3, using: &random)).map { _ in filter(depth: depth) }
    }

    private mutating func comparable(with type: ColumnType) -> ColumnType {
        type == .integer || type == .double ? (chance(50) ? .integer : .double) : type
    }

    private mutating func constants(comparableWith type: ColumnType) -> [ItemValue] {
        (0..<Int.random(in: 0...4, using: &random)).map { _ in
            chance(8) ? .null : value(of: comparable(with: type))
        }
    }

    private mutating func operand(comparableWith type: ColumnType) -> FilterExpression {
        if chance(6) { return .constant(.null) }
        let type = comparable(with: type)
        return chance(65) ? .constant(value(of: type)) : expression(type, depth: 2)
    }

    private mutating func expression(_ type: ColumnType, depth: Int) -> FilterExpression {
        if chance(3) { return .constant(.null) }
        if type == .bool, chance(10) { return .column("deleted") }
        if depth == 0 || chance(50) {
            return chance(85) ? .column(column(of: type)) : .constant(value(of: type))
        }
        switch type {
        case .integer: return chance(50) ? integerFunction(depth: depth) : arithmetic(type, depth: depth)
        case .double:
            if chance(50) { return arithmetic(type, depth: depth) }
            return .call(pick([.round, .floor, .ceiling], .round), [expression(.double, depth: depth - 1)])
        case .text:
            if chance(30) {
                return .call(
                    .concat, [expression(.text, depth: depth - 1), expression(.text, depth: depth - 1)])
            }
            return .call(pick([.tolower, .toupper, .trim], .trim), [expression(.text, depth: depth - 1)])
        default: return .column(column(of: type))
        }
    }

    private mutating func integerFunction(depth: Int) -> FilterExpression {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: .call(.length, [expression(.text, depth: depth - 1)])
        case 1:
            .call(.indexof, [expression(.text, depth: depth - 1), expression(.text, depth: depth - 1)])
        case 2: .call(pick([.round, .floor, .ceiling], .round), [expression(.integer, depth: depth - 1)])
        default:
            .call(
                pick([.year, .month, .day, .hour, .minute, .second], .year),
                [expression(.date, depth: depth - 1)])
        }
    }

    private mutating func arithmetic(_ type: ColumnType, depth: Int) -> FilterExpression {
        let operations: [FilterExpression.Arithmetic] =
            type == .integer ? [.add, .sub, .mul, .div, .mod] : [.add, .sub, .mul, .div]
        let left = expression(type, depth: depth - 1)
        let right = expression(type == .integer ? .integer : comparable(with: .double), depth: depth - 1)
        return .arithmetic(pick(operations, .add), left, right)
    }
}
