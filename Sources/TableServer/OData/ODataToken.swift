// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A token of a `$filter`.
enum ODataToken: Hashable {
    case open, close, comma, minus, end
    case name(String)
    case literal(ItemValue)
    /// The digits of a number without its sign, and its type.
    case number(String, NumberKind)

    /// The type of a number literal.
    enum NumberKind: Hashable {
        case plain
        /// With the suffix `l`: 64 bits.
        case integer
        /// With a fraction, an exponent, or one of the suffixes `d`, `f` and `m`.
        case double
    }

    var description: String {
        switch self {
        case .open: "'('"
        case .close: "')'"
        case .comma: "','"
        case .minus: "'-'"
        case .end: "the end"
        case .name(let name): "'\(name)'"
        case .literal, .number: "a literal"
        }
    }
}

/// Splits a `$filter` into tokens.
struct ODataLexer {
    private let bytes: [UInt8]
    private let dialect: TableServer.Dialect
    private(set) var position = 0

    init(_ text: String, _ dialect: TableServer.Dialect) {
        bytes = Array(text.utf8)
        self.dialect = dialect
    }

    func error(_ problem: String) -> ODataError { ODataError(offset: position, problem: problem) }

    /// Whether the next byte is a digit; a `-` before it is then the sign of a number.
    var isAtDigit: Bool { position < bytes.count && bytes[position].isASCIIDigit }

    mutating func next() throws(ODataError) -> ODataToken {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
        guard position < bytes.count else { return .end }
        switch bytes[position] {
        case UInt8(ascii: "("): return consume(.open)
        case UInt8(ascii: ")"): return consume(.close)
        case UInt8(ascii: ","): return consume(.comma)
        case UInt8(ascii: "-"): return consume(.minus)
        case UInt8(ascii: "'"): return .literal(.text(try readQuoted()))
        case let byte where byte.isASCIIDigit:
            if let date = try readDate() { return date }
            return try readNumber()
        case let byte where byte.isNameStart: return try readName()
        case let byte where byte < 0x80:
            throw error("unexpected '\(Character(Unicode.Scalar(byte)))'")
        default: throw error("unexpected character: names consist of letters, digits and '_'")
        }
    }

    private mutating func consume(_ token: ODataToken) -> ODataToken {
        position += 1
        return token
    }

    private mutating func text(while predicate: (UInt8) -> Bool) -> String {
        let start = position
        while position < bytes.count, predicate(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads a quoted string; two quotes inside it are one quote.
    private mutating func readQuoted() throws(ODataError) -> String {
        let start = position
        var text: [UInt8] = []
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == UInt8(ascii: "'") {
                guard position < bytes.count, bytes[position] == byte else {
                    return String(decoding: text, as: UTF8.self)
                }
                position += 1
            }
            text.append(byte)
        }
        position = start
        throw error("the closing quote is missing")
    }

    private mutating func readName() throws(ODataError) -> ODataToken {
        let start = position
        var name = text(while: \.isNamePart)
        guard position < bytes.count else { return .name(name) }
        if dialect == .v3 {
            // The name of a type, such as Edm.DateTimeOffset. Literals have no prefixes in OData v4.
            if name == "Edm", bytes[position] == UInt8(ascii: ".") {
                position += 1
                name += "." + text(while: \.isNamePart)
            }
            return .name(name)
        }
        guard bytes[position] == UInt8(ascii: "'") else { return .name(name) }
        let quoted = try readQuoted()
        switch name {
        case "datetimeoffset", "datetime":
            // A `+` that the client did not percent-encode arrives as a space; in a date it can only be the sign of the
            // offset.
            return try date(quoted.replacing(" ", with: "+"), at: start)
        case "guid":
            return .literal(.text(quoted))
        default:
            position = start
            throw error("literals of type '\(name)' are not supported")
        }
    }

    /// Reads a date without quotes, as in OData v4; `nil` when there is none.
    private mutating func readDate() throws(ODataError) -> ODataToken? {
        guard dialect == .v3, bytes.count > position + 4, bytes[position + 4] == UInt8(ascii: "-"),
            bytes[position..<position + 4].allSatisfy(\.isASCIIDigit)
        else { return nil }
        let start = position
        return try date(text { $0.isNamePart || "+-:.".utf8.contains($0) }, at: start)
    }

    private mutating func date(_ text: String, at start: Int) throws(ODataError) -> ODataToken {
        guard let timestamp = Timestamp(text) else {
            position = start
            throw error("'\(text)' is not a date such as 2014-05-30T18:30:00.000Z")
        }
        return .literal(.date(timestamp))
    }

    private mutating func readNumber() throws(ODataError) -> ODataToken {
        var digits = text(while: \.isASCIIDigit)
        var kind = ODataToken.NumberKind.plain
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            guard isAtDigit else { throw error("expected a digit after the decimal point") }
            digits += "." + text(while: \.isASCIIDigit)
            kind = .double
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            digits += "e" + text { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            guard isAtDigit else { throw error("expected a digit in the exponent") }
            digits += text(while: \.isASCIIDigit)
            kind = .double
        }
        let suffix = text(while: \.isNamePart)
        switch suffix {
        case "": return .number(digits, kind)
        case "l", "L": if kind == .plain { return .number(digits, .integer) }
        case "d", "D", "f", "F", "m", "M": return .number(digits, .double)
        default: break
        }
        throw error("'\(digits)\(suffix)' is not a number")
    }
}
