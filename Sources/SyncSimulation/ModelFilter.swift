// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The part of OData that pulls and the simulation's queries use, read anew from text.
struct ModelFilter {
    indirect enum Node {
        case or(Node, Node)
        case and(Node, Node)
        case not(Node)
        case compare(String, Operand, Operand)
    }

    enum Operand {
        case property(String)
        case constant(ModelJSON)
    }

    /// Reads a property of a row as the server keeps it; dates are nanoseconds.
    typealias Row = (String) -> ModelJSON

    let root: Node

    init?(_ text: String) {
        var parser = Parser(text)
        guard let node = parser.or(), parser.isAtEnd else { return nil }
        root = node
    }

    func matches(_ row: Row) -> Bool { Self.evaluate(root, row) == true }

    private static func evaluate(_ node: Node, _ row: Row) -> Bool? {
        switch node {
        case .or(let a, let b):
            switch (evaluate(a, row), evaluate(b, row)) {
            case (true, _), (_, true): true
            case (false, false): false
            default: nil
            }
        case .and(let a, let b):
            switch (evaluate(a, row), evaluate(b, row)) {
            case (false, _), (_, false): false
            case (true, true): true
            default: nil
            }
        case .not(let a): evaluate(a, row).map { !$0 }
        case .compare(let op, let left, let right): compare(op, value(left, row), value(right, row), left, right)
        }
    }

    private static func value(_ operand: Operand, _ row: Row) -> ModelJSON {
        switch operand {
        case .property(let name): row(name)
        case .constant(let value): value
        }
    }

    private static func compare(
        _ op: String, _ left: ModelJSON, _ right: ModelJSON, _ a: Operand, _ b: Operand
    ) -> Bool? {
        if case .constant(.null) = b { return op == "eq" ? left == .null : left != .null }
        let order: Int
        switch (left, right) {
        case (.null, _), (_, .null): return nil
        case (.int(let x), .int(let y)): order = x < y ? -1 : x > y ? 1 : 0
        case (.bool(let x), .bool(let y)): order = x == y ? 0 : (!x ? -1 : 1)
        case (.text(let x), .text(let y)):
            order = x == y ? 0 : (x.utf8.lexicographicallyPrecedes(y.utf8) ? -1 : 1)
        default: return nil
        }
        return switch op {
        case "eq": order == 0
        case "ne": order != 0
        case "lt": order < 0
        case "le": order <= 0
        case "gt": order > 0
        default: order >= 0
        }
    }

    private struct Parser {
        private var tokens: ArraySlice<String>

        init(_ text: String) {
            var tokens: [String] = []
            var rest = Substring(text)
            while let first = rest.first {
                if first == " " { rest.removeFirst(); continue }
                if first == "(" || first == ")" { tokens.append(String(first)); rest.removeFirst(); continue }
                var token = ""
                while let c = rest.first, c != " ", c != "(", c != ")" {
                    token.append(c)
                    rest.removeFirst()
                    guard c == "'" else { continue }
                    // A quote inside a literal is doubled.
                    while let d = rest.first {
                        rest.removeFirst()
                        token.append(d)
                        if d == "'" {
                            guard rest.first == "'" else { break }
                            rest.removeFirst()
                        }
                    }
                }
                tokens.append(token)
            }
            self.tokens = tokens[...]
        }

        var isAtEnd: Bool { tokens.isEmpty }

        mutating func or() -> Node? {
            guard var node = and() else { return nil }
            while tokens.first == "or" {
                tokens.removeFirst()
                guard let right = and() else { return nil }
                node = .or(node, right)
            }
            return node
        }

        mutating func and() -> Node? {
            guard var node = unary() else { return nil }
            while tokens.first == "and" {
                tokens.removeFirst()
                guard let right = unary() else { return nil }
                node = .and(node, right)
            }
            return node
        }

        mutating func unary() -> Node? {
            if tokens.first == "not" {
                tokens.removeFirst()
                return unary().map(Node.not)
            }
            if tokens.first == "(" {
                tokens.removeFirst()
                let node = or()
                guard tokens.popFirst() == ")" else { return nil }
                return node
            }
            guard let left = operand(), let op = tokens.popFirst(), let right = operand() else { return nil }
            return .compare(op, left, right)
        }

        mutating func operand() -> Operand? {
            guard let token = tokens.popFirst() else { return nil }
            if token == "null" { return .constant(.null) }
            if token == "true" || token == "false" { return .constant(.bool(token == "true")) }
            if let number = Int64(token.hasSuffix("l") ? String(token.dropLast()) : token) {
                return .constant(.int(number))
            }
            if token.hasPrefix("datetimeoffset'") {
                return ModelTime(String(token.dropFirst(15).dropLast())).map { .constant(.int($0.nanoseconds)) }
            }
            if token.hasPrefix("'") { return .constant(.text(String(token.dropFirst().dropLast()))) }
            return .property(token)
        }
    }
}

/// A server time in nanoseconds since 1970, with its text.
struct ModelTime: Sendable, Hashable {
    let nanoseconds: Int64

    init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// Reads `yyyy-MM-ddTHH:mm:ss.fffZ`.
    init?(_ text: String) {
        let digits = text.split { !$0.isNumber }.map(String.init)
        guard digits.count >= 6, let y = Int(digits[0]), let mo = Int(digits[1]), let d = Int(digits[2]),
            let h = Int(digits[3]), let mi = Int(digits[4]), let s = Int(digits[5])
        else { return nil }
        var fraction: Int64 = 0
        if digits.count > 6 {
            fraction = Int64((digits[6] + "000000000").prefix(9)) ?? 0
        }
        nanoseconds = Int64(Self.days(y, mo, d) * 86400 + h * 3600 + mi * 60 + s) * 1_000_000_000 + fraction
    }

    func text(digits: Int) -> String {
        let seconds = Int(nanoseconds / 1_000_000_000)
        let (day, time) = (seconds / 86400, seconds % 86400)
        let (y, m, d) = Self.date(day)
        func two(_ n: Int) -> String { n < 10 ? "0\(n)" : "\(n)" }
        let fraction = String(String(1_000_000_000 + nanoseconds % 1_000_000_000).dropFirst().prefix(digits))
        return "\(y)-\(two(m))-\(two(d))T\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)).\(fraction)Z"
    }

    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = y / 400, yoe = y - era * 400
        let doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468
    }

    private static func date(_ days: Int) -> (Int, Int, Int) {
        let z = days + 719468, era = z / 146097, doe = z - era * 146097
        let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153
        let m = mp < 10 ? mp + 3 : mp - 9
        return (yoe + era * 400 + (m <= 2 ? 1 : 0), m, doy - (153 * mp + 2) / 5 + 1)
    }
}
