// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The part of OData filters that pulls and the simulation's queries use, with a reader of its own.
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
        case .compare(let op, let left, let right):
            compare(op, value(left, row), value(right, row), to: right)
        }
    }

    private static func value(_ operand: Operand, _ row: Row) -> ModelJSON {
        switch operand {
        case .property(let name): row(name)
        case .constant(let value): value
        }
    }

    private static func compare(
        _ op: String, _ left: ModelJSON, _ right: ModelJSON, to operand: Operand
    ) -> Bool? {
        if case .constant(.null) = operand { return op == "eq" ? left == .null : left != .null }
        let order: Int
        switch (left, right) {
        case (.null, _), (_, .null): return nil
        case (.int(let x), .int(let y)): order = x < y ? -1 : x > y ? 1 : 0
        case (.double(let x), .double(let y)): order = x < y ? -1 : x > y ? 1 : 0
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
            let (space, open, close, quote) = (
                UInt8(ascii: " "), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "'")
            )
            let bytes = Array(text.utf8)
            var tokens: [String] = []
            var index = 0
            while index < bytes.count {
                let start = index
                if bytes[index] == space {
                    index += 1
                    continue
                }
                if bytes[index] == open || bytes[index] == close {
                    index += 1
                } else {
                    var isQuoted = false
                    // A quote inside a literal is doubled: it ends the literal and begins it again.
                    while index < bytes.count, isQuoted || ![space, open, close].contains(bytes[index]) {
                        if bytes[index] == quote { isQuoted.toggle() }
                        index += 1
                    }
                }
                tokens.append(String(decoding: bytes[start..<index], as: UTF8.self))
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
            if let number = Double(token) { return .constant(.double(number)) }
            if token.hasPrefix("datetimeoffset'") {
                return ModelTime(String(token.dropFirst(15).dropLast())).map {
                    .constant(.int($0.nanoseconds))
                }
            }
            if token == "cast", tokens.popFirst() == "(", let text = tokens.popFirst(),
                text.hasSuffix(",Edm.DateTimeOffset"), tokens.popFirst() == ")"
            {
                return ModelTime(String(text.dropLast(19))).map { .constant(.int($0.nanoseconds)) }
            }
            if token.hasPrefix("'") {
                return .constant(.text(String(token.dropFirst().dropLast().replacing("''", with: "'"))))
            }
            return .property(token)
        }
    }
}
