// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The smallest parts of a `$filter`.
enum ODataToken: Hashable {
    case open, close, comma, minus, end
    case name(String)
    case literal(ItemValue)
    /// Digits without a sign, and what they are meant to be.
    case number(String, NumberKind)

    /// The type a number literal asks for.
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

/// Reads tokens from left to right.
struct ODataLexer {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    func error(_ problem: String) -> ODataError { ODataError(offset: position, problem: problem) }

    /// Whether the next byte is a digit, as it is between a sign and its number.
    var isAtDigit: Bool { position < bytes.count && bytes[position].isDigit }

    mutating func next() throws(ODataError) -> ODataToken {
        while position < bytes.count, bytes[position] == 0x20 || bytes[position] == 0x09 { position += 1 }
        guard position < bytes.count else { return .end }
        switch bytes[position] {
        case UInt8(ascii: "("): return take(.open)
        case UInt8(ascii: ")"): return take(.close)
        case UInt8(ascii: ","): return take(.comma)
        case UInt8(ascii: "-"): return take(.minus)
        case UInt8(ascii: "'"): return .literal(.text(try readQuoted()))
        case let byte where byte.isDigit: return try readNumber()
        case let byte where byte.isNameStart: return try readName()
        case let byte where byte < 0x80:
            throw error("'\(Character(Unicode.Scalar(byte)))' has no meaning here")
        default: throw error("names have only letters, digits and '_'")
        }
    }

    private mutating func take(_ token: ODataToken) -> ODataToken {
        position += 1
        return token
    }

    private mutating func text(while holds: (UInt8) -> Bool) -> String {
        let start = position
        while position < bytes.count, holds(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    /// Reads a text in quotes; two quotes inside stand for one.
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
        throw error("a quote is opened and never closed")
    }

    private mutating func readName() throws(ODataError) -> ODataToken {
        let start = position
        let name = text(while: \.isNamePart)
        guard position < bytes.count, bytes[position] == UInt8(ascii: "'") else { return .name(name) }
        let quoted = try readQuoted()
        switch name {
        case "datetimeoffset", "datetime":
            // `+` that was not percent-encoded arrives as a space, and only the offset of a zone can hold one.
            let text = quoted.replacing(" ", with: "+")
            guard let timestamp = Timestamp(text) else {
                position = start
                throw error("'\(quoted)' is no date such as 2014-05-30T18:30:00.000Z")
            }
            return .literal(.date(timestamp))
        case "guid":
            return .literal(.text(quoted))
        default:
            position = start
            throw error("there are no literals of type '\(name)'")
        }
    }

    private mutating func readNumber() throws(ODataError) -> ODataToken {
        var digits = text(while: \.isDigit)
        var kind = ODataToken.NumberKind.plain
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            guard isAtDigit else { throw error("a digit is due after the point") }
            digits += "." + text(while: \.isDigit)
            kind = .double
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            digits += "e" + text { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            guard isAtDigit else { throw error("a digit is due in the exponent") }
            digits += text(while: \.isDigit)
            kind = .double
        }
        let suffix = text(while: \.isNamePart)
        switch suffix {
        case "": return .number(digits, kind)
        case "l", "L": if kind == .plain { return .number(digits, .integer) }
        case "d", "D", "f", "F", "m", "M": return .number(digits, .double)
        default: break
        }
        throw error("'\(digits)\(suffix)' is no number")
    }
}
