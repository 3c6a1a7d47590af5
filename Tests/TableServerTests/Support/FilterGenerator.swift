// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

@testable import TableServer

/// Generates rows with values of all types, and the texts of filters and orders that compare them.
struct FilterGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    static let columns = ["a", "b", "c", "Mixed"]

    private static let texts = [
        "", "a", "A", "ab", "b", "milk", "Milk", "MILK", "é", "e\u{301}", "É", "ß", "ﬁ", "İ", "日本", "😀",
        " x ",
        "\u{A0}y\t", "O'Brien", "%", "_", "1", "3.5", "true", "null", "\0", "a\0b", "\"\\", "\u{FEFF}a", "ΑΣ",
        "ŉ",
        "\(reserved(0))", "a\(reserved(1))", "\(reserved(2))b\0",
        "\(reserved(0))\(reserved(1))\(reserved(1))", "\u{FFFD}",
        "2024-05-30T12:00:00Z", "2024-05-30T12:00:00.000Z", "2024-05-30T14:00:00.5+02:00", "2024-02-29",
    ]
    /// Returns one of the characters by which PostgreSQL's texts stand for U+0000.
    private static func reserved(_ offset: UInt32) -> Unicode.Scalar {
        Unicode.Scalar(0xFDD0 + offset) ?? "?"
    }

    private static let integers: [Int64] = [
        0, 1, -1, 2, 3, 7, -7, 10, 255, 9_007_199_254_740_992, 9_007_199_254_740_993, .max, .min, .min + 1,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 0.1, 0.5, 1, 1.5, -1.5, 2.5, -2.5, 3, 1e15, 1e23, 7e22, 1.9e22, 1e300, -1e300,
        .leastNonzeroMagnitude,
        9_007_199_254_740_992,
        9.223372036854775807e18, -9.223372036854775808e18, 0.30000000000000004,
    ]
    private static let dates = (0..<6).compactMap { step in
        Timestamp(
            seconds: Timestamp.noon.seconds + Int64(step / 3), nanoseconds: Int32(step % 3) * 500_000_100,
            fractionDigits: 9)
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &generator)]
    }

    private mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &generator) < percent
    }

    /// Returns rows with different ids.
    mutating func rows(_ count: Int) -> [TableRow] {
        (0..<count).map { number in
            var fields: [String: ItemValue] = [:]
            for column in Self.columns where chance(80) { fields[column] = value() }
            return TableRow(
                id: pick(["a", "b", "B", "é", "e\u{301}", "'", "x y", "\(Self.reserved(1))"]) + "\(number)",
                fields: fields,
                createdAt: pick(Self.dates), updatedAt: pick(Self.dates),
                revision: Int64(Int.random(in: 1..<30, using: &generator)), deleted: chance(20), sequence: 0)
        }
    }

    private mutating func value() -> ItemValue {
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<10: .null
        case ..<25: .bool(chance(50))
        case ..<50: .int(pick(Self.integers))
        case ..<65: .double(pick(Self.doubles))
        case ..<94: .text(pick(Self.texts))
        case ..<97: ["x", 1, [true]]
        default: ["k": "v", "a": ["b": nil]]
        }
    }

    /// Returns a condition.
    mutating func condition(_ depth: Int = 3) -> String {
        if depth == 0 { return comparison(1) }
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<40: return comparison(depth)
        case ..<55: return "(\(condition(depth - 1)) and \(condition(depth - 1)))"
        case ..<70: return "(\(condition(depth - 1)) or \(condition(depth - 1)))"
        case ..<80: return "not (\(condition(depth - 1)))"
        case ..<85: return pick(Self.columns)
        case ..<88: return keyset()
        case ..<90:
            return (0..<20).map { _ in "a eq \(literal())" }.joined(separator: " or ")
        default: return "\(pick(["startswith", "endswith", "substringof"]))(\(term(1)),\(term(1)))"
        }
    }

    private mutating func keyset() -> String {
        let date = "datetimeoffset'\(pick(Self.dates))'"
        let id = quoted(pick(["a", "b3", "é1", "'"]))
        return "(updatedAt gt \(date) or (updatedAt eq \(date) and id gt \(id)))"
    }

    private mutating func comparison(_ depth: Int) -> String {
        let name = pick(["eq", "ne", "gt", "ge", "lt", "le"])
        if chance(30) { return "\(pick(Self.columns)) \(name) \(literal())" }
        if chance(15) { return "\(literal()) \(name) \(pick(["id", "updatedAt", "createdAt", "deleted"]))" }
        if chance(15) { return "\(pick(["id", "UPDATEDAT", "createdAt", "deleted"])) \(name) \(literal())" }
        return "\(term(depth)) \(name) \(term(depth))"
    }

    private mutating func term(_ depth: Int) -> String {
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<30: return pick(Self.columns)
        case ..<40: return pick(["id", "createdAt", "updatedAt", "version", "deleted", "nosuch"])
        case ..<65: return literal()
        case _ where depth == 0: return pick(Self.columns)
        case ..<75:
            return "(\(term(depth - 1)) \(pick(["add", "sub", "mul", "div", "mod"])) \(term(depth - 1)))"
        case ..<78: return "- \(pick(Self.columns))"
        case ..<83: return "(\(condition(0)))"
        case ..<90: return "\(pick(["indexof", "concat"]))(\(term(depth - 1)),\(term(depth - 1)))"
        default:
            let name = pick([
                "tolower", "toupper", "trim", "length", "year", "month", "day", "hour", "minute", "second",
                "round", "floor", "ceiling",
            ])
            return "\(name)(\(term(depth - 1)))"
        }
    }

    private mutating func literal() -> String {
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<8: return "null"
        case ..<16: return pick(["true", "false"])
        case ..<40: return "\(pick(Self.integers))"
        case ..<55: return "\(pick(Self.doubles))"
        case ..<70: return "datetimeoffset'\(pick(Self.dates))'"
        default: return quoted(pick(Self.texts))
        }
    }

    private func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "''"))'" }

    /// Returns an order; empty for the order of insertion.
    mutating func ordering() -> String {
        if chance(25) { return "" }
        let names = Self.columns + ["id", "createdAt", "updatedAt", "version", "deleted", "nosuch"]
        return (0..<(chance(50) ? 1 : 2)).map { _ in pick(names) + pick(["", " desc", " asc"]) }
            .joined(separator: ",")
    }

    /// Returns an offset and a limit.
    mutating func window() -> (offset: Int, limit: Int) {
        chance(50)
            ? (0, 1000)
            : (Int.random(in: 0..<10, using: &generator), Int.random(in: 0..<10, using: &generator))
    }

    mutating func includesDeleted() -> Bool { chance(50) }
}
