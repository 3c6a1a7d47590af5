// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A single-pass parser of JSON (RFC 8259).
///
/// Numbers without fraction and exponent that fit in 64 bits are integers, all others doubles; `-0` is a double. The last
/// value of a repeated name is kept. Input outside the grammar is an error with its byte offset: trailing commas, unpaired
/// surrogates, invalid UTF-8, numbers out of the range of a double. Two names of an object that are canonically
/// equivalent but not the same bytes are an error too, because a Swift dictionary would keep only one of them. A byte
/// order mark before JSON of the wire is skipped.
struct JSONParser {
    let bytes: UnsafeBufferPointer<UInt8>
    private let style: JSONWriter.Style
    var position = 0
    var depth = 0
    /// The number of fields of the previous object, as a capacity for the next one.
    private var expectedCount = 8

    /// The maximum nesting on the wire, which bounds the use of the stack.
    static let maxDepth = 100
    /// The maximum nesting of stored JSON: rows of the server are stored inside other objects.
    static let maxStoredDepth = maxDepth + 10

    /// The maximum reserved capacity, so that a short malicious text cannot allocate much memory.
    private static let maxExpectedCount = 32

    init(_ bytes: UnsafeRawBufferPointer, style: JSONWriter.Style) {
        self.bytes = bytes.assumingMemoryBound(to: UInt8.self)
        self.style = style
        if style == .wire, bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Reads a value that is the whole text.
    mutating func parseDocument() throws(JSONError) -> ItemValue {
        skipWhitespace()
        let value = try parseValue()
        try parseEnd()
        return value
    }

    /// Reads an object that is the whole text, without an intermediate value.
    ///
    /// - Parameter body: reads the value of the member with that name.
    mutating func parseDocument(
        _ body: (_ name: String, inout JSONParser) throws(JSONError) -> Void
    ) throws(JSONError) {
        skipWhitespace()
        try parseMembers(body)
        try parseEnd()
    }

    mutating func parseEnd() throws(JSONError) {
        skipWhitespace()
        guard position == bytes.count else { throw error("unexpected data after the value") }
    }

    func error(_ problem: String) -> JSONError { JSONError(offset: position, problem: problem) }

    mutating func skipWhitespace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    /// Whether the next byte is this one.
    func isAt(_ byte: UInt8) -> Bool { position < bytes.count && bytes[position] == byte }

    private func isAt(_ literal: StaticString) -> Bool {
        let length = literal.utf8CodeUnitCount
        return bytes.count - position >= length
            && (0..<length).allSatisfy { bytes[position + $0] == literal.utf8Start[$0] }
    }

    mutating func consume(_ byte: UInt8) -> Bool {
        guard isAt(byte) else { return false }
        position += 1
        return true
    }

    mutating func parseValue() throws(JSONError) -> ItemValue {
        guard position < bytes.count else { throw error("unexpected end of input: expected a value") }
        switch bytes[position] {
        case UInt8(ascii: "{"): return try parseObject()
        case UInt8(ascii: "["): return try parseArray()
        case UInt8(ascii: "\""): return .text(try parseString())
        case UInt8(ascii: "t"): return try parse(literal: "true", as: .bool(true))
        case UInt8(ascii: "f"): return try parse(literal: "false", as: .bool(false))
        case UInt8(ascii: "n"): return try parse(literal: "null", as: .null)
        default: return try parseNumber()
        }
    }

    private mutating func nested<Result>(
        _ parse: (inout JSONParser) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        depth += 1
        let maxDepth = style == .wire ? Self.maxDepth : Self.maxStoredDepth
        guard depth <= maxDepth else { throw error("nesting exceeds \(maxDepth) levels") }
        position += 1
        skipWhitespace()
        let result = try parse(&self)
        depth -= 1
        return result
    }

    private mutating func parseObject() throws(JSONError) -> ItemValue {
        if style == .tagged, let date = parseTaggedDate() { return .date(date) }
        var fields = [String: ItemValue](minimumCapacity: expectedCount)
        try parseMembers { name, parser throws(JSONError) in
            guard case .some = fields.updateValue(try parser.parseValue(), forKey: name) else { return }
            guard fields.hasKey(withSameBytesAs: name) else { throw parser.error(Self.equivalentNames) }
        }
        expectedCount = min(fields.count, Self.maxExpectedCount)
        if style == .tagged, fields.count == 1, let (name, value) = fields.first,
            name.utf8.first == UInt8(ascii: "$")
        {
            return try untagged(name: name, value: value)
        }
        return .object(fields)
    }

    /// Reads an object member by member.
    ///
    /// - Parameters:
    ///   - expected: the names that the object probably has, in this order.
    ///   - body: reads the value of the member with that name.
    mutating func parseMembers(
        expecting expected: [String] = [],
        _ body: (_ name: String, inout JSONParser) throws(JSONError) -> Void
    ) throws(JSONError) {
        guard isAt(UInt8(ascii: "{")) else { throw error("expected an object") }
        try nested { parser throws(JSONError) in try parser.parseMembersInside(expecting: expected, body) }
    }

    private mutating func parseMembersInside(
        expecting expected: [String], _ body: (_ name: String, inout JSONParser) throws(JSONError) -> Void
    ) throws(JSONError) {
        if consume(UInt8(ascii: "}")) { return }
        var index = 0
        while true {
            let name = try parseName(expecting: index < expected.count ? expected[index] : nil)
            index += 1
            skipWhitespace()
            guard consume(UInt8(ascii: ":")) else { throw error("expected ':'") }
            skipWhitespace()
            try body(name, &self)
            skipWhitespace()
            if consume(UInt8(ascii: "}")) { return }
            guard consume(UInt8(ascii: ",")) else { throw error("expected ',' or '}'") }
            skipWhitespace()
        }
    }

    private mutating func parseName(expecting expected: String?) throws(JSONError) -> String {
        if let expected, consume(quoted: expected) { return expected }
        guard isAt(UInt8(ascii: "\"")) else { throw error("expected a name in quotes") }
        return try parseString()
    }

    /// Consumes a quoted string if it is this one without escape sequences.
    private mutating func consume(quoted text: String) -> Bool {
        var text = text
        let bytes = bytes[position...]
        let isNext = text.withUTF8 { text in
            bytes.count >= text.count + 2 && bytes.first == UInt8(ascii: "\"")
                && bytes[bytes.startIndex + 1 + text.count] == UInt8(ascii: "\"")
                && zip(bytes.dropFirst(), text).allSatisfy { $0 == $1 && !$0.isEscapedInJSON }
        }
        if isNext { position += text.utf8.count + 2 }
        return isNext
    }

    /// Fast path for a tagged date as ``JSONWriter`` writes it; any other form is parsed as an object.
    private mutating func parseTaggedDate() -> Timestamp? {
        let prefix: StaticString = "{\"$date\":\""
        guard isAt(prefix) else { return nil }
        let start = position + prefix.utf8CodeUnitCount
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")), end + 1 < bytes.count,
            bytes[end + 1] == UInt8(ascii: "}"),
            let date = Timestamp(utf8: UnsafeBufferPointer(rebasing: bytes[start..<end]))
        else { return nil }
        position = end + 2
        return date
    }

    /// Decodes an object with one name that begins with `$`: see ``JSONWriter/Style/tagged``.
    private func untagged(name: String, value: ItemValue) throws(JSONError) -> ItemValue {
        if name == "$date", let date = value.textValue.flatMap({ Timestamp($0) }) { return .date(date) }
        if name == "$data", let data = value.textValue.flatMap({ Data(base64Encoded: $0) }) {
            return .data(data)
        }
        guard let rest = name.dropping(prefix: "$$") else { throw error("unknown tag '\(name)'") }
        return .object(["$" + rest: value])
    }

    private mutating func parseArray() throws(JSONError) -> ItemValue {
        var values: [ItemValue] = []
        try parseElements { parser throws(JSONError) in values.append(try parser.parseValue()) }
        return .array(values)
    }

    /// Calls the body for each element of a list. The parser is at the opening bracket.
    mutating func parseElements(_ body: (inout JSONParser) throws(JSONError) -> Void) throws(JSONError) {
        try nested { parser throws(JSONError) in
            if parser.consume(UInt8(ascii: "]")) { return }
            while true {
                try body(&parser)
                parser.skipWhitespace()
                if parser.consume(UInt8(ascii: "]")) { return }
                guard parser.consume(UInt8(ascii: ",")) else { throw parser.error("expected ',' or ']'") }
                parser.skipWhitespace()
            }
        }
    }

    private mutating func parse(literal: StaticString, as value: ItemValue) throws(JSONError) -> ItemValue {
        guard isAt(literal) else { throw error("expected '\(literal)'") }
        position += literal.utf8CodeUnitCount
        return value
    }

    private mutating func parseNumber() throws(JSONError) -> ItemValue {
        let start = position
        let isNegative = consume(UInt8(ascii: "-"))
        var magnitude: UInt64 = 0
        var fits = true
        let digitsStart = position
        while position < bytes.count, bytes[position].isASCIIDigit {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(UInt64(bytes[position] - 0x30))
            magnitude = sum
            fits = fits && !overflow && !carry
            position += 1
        }
        guard position > digitsStart else { throw error("expected a value") }
        guard position == digitsStart + 1 || bytes[digitsStart] != 0x30 else {
            throw error("a number has a leading zero")
        }
        let digitsEnd = position
        let isInteger = try !skipFractionAndExponent() || isExactOnlyAsInteger(magnitude, digitsEnd)
        if isInteger, fits, !(isNegative && magnitude == 0) {
            if !isNegative, magnitude <= UInt64(Int64.max) { return .int(Int64(magnitude)) }
            if isNegative, magnitude <= UInt64(Int64.max) + 1 {
                return .int(Int64(truncatingIfNeeded: 0 &- magnitude))
            }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let double = Double(text), double.isFinite else {
            throw error("a number is out of the range of a double")
        }
        return .double(double)
    }

    /// Whether a number with a fraction is an integer that a double does not hold. Servers write decimals in this way.
    private func isExactOnlyAsInteger(_ magnitude: UInt64, _ digitsEnd: Int) -> Bool {
        magnitude > 1 << 53 && bytes[digitsEnd] == UInt8(ascii: ".")
            && (digitsEnd + 1..<position).allSatisfy { bytes[$0] == 0x30 }
    }

    private mutating func skipFractionAndExponent() throws(JSONError) -> Bool {
        var found = false
        if consume(UInt8(ascii: ".")) {
            found = true
            try skipDigits()
        }
        if consume(UInt8(ascii: "e")) || consume(UInt8(ascii: "E")) {
            found = true
            if !consume(UInt8(ascii: "+")) { _ = consume(UInt8(ascii: "-")) }
            try skipDigits()
        }
        return found
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while position < bytes.count, bytes[position].isASCIIDigit { position += 1 }
        guard position > start else { throw error("expected a digit") }
    }

    private mutating func parseString() throws(JSONError) -> String {
        position += 1
        let start = position
        var hasHighBytes = false
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                let text = try decode(start..<position, isASCII: !hasHighBytes)
                position += 1
                return text
            case UInt8(ascii: "\\"): return try parseEscapedString(from: start)
            case 0..<0x20: throw error("a control character in a string is not escaped")
            case 0x80...: hasHighBytes = true
            default: break
            }
            position += 1
        }
        throw error("unexpected end of input in a string")
    }

    private func decode(_ range: Range<Int>, isASCII: Bool) throws(JSONError) -> String {
        let slice = UnsafeBufferPointer(rebasing: bytes[range])
        if isASCII { return String(decoding: slice, as: UTF8.self) }
        guard let text = String(validating: slice, as: UTF8.self) else {
            throw error("invalid UTF-8")
        }
        return text
    }

    /// Slow path from the first backslash on: collects the decoded bytes.
    private mutating func parseEscapedString(from start: Int) throws(JSONError) -> String {
        var decoded = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: decoded, as: UTF8.self) else {
                    throw error("invalid UTF-8")
                }
                return text
            case UInt8(ascii: "\\"): try parseEscape(into: &decoded)
            case 0..<0x20: throw error("a control character in a string is not escaped")
            default: decoded.append(byte)
            }
        }
        throw error("unexpected end of input in a string")
    }

    private mutating func parseEscape(into decoded: inout [UInt8]) throws(JSONError) {
        guard position < bytes.count else { throw error("unexpected end of input in an escape sequence") }
        let byte = bytes[position]
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): decoded.append(byte)
        case UInt8(ascii: "b"): decoded.append(0x08)
        case UInt8(ascii: "f"): decoded.append(0x0C)
        case UInt8(ascii: "n"): decoded.append(0x0A)
        case UInt8(ascii: "r"): decoded.append(0x0D)
        case UInt8(ascii: "t"): decoded.append(0x09)
        case UInt8(ascii: "u"): decoded.append(contentsOf: String(try parseUnicodeEscape()).utf8)
        default: throw error("unknown escape sequence")
        }
    }

    private mutating func parseUnicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let unit = try parseHexUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard (0xD800..<0xDC00).contains(unit), consume(UInt8(ascii: "\\")), consume(UInt8(ascii: "u")) else {
            throw error("unpaired surrogate")
        }
        let low = try parseHexUnit()
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00))
        else { throw error("unpaired surrogate") }
        return scalar
    }

    private mutating func parseHexUnit() throws(JSONError) -> UInt32 {
        guard bytes.count - position >= 4 else { throw error("expected four hexadecimal digits") }
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue, bytes[position] < 0x80
            else {
                throw error("expected four hexadecimal digits")
            }
            unit = unit << 4 | UInt32(digit)
            position += 1
        }
        return unit
    }
}

/// The position and reason of an error in JSON.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The byte offset of the error.
    public let offset: Int
    /// The problem at that offset.
    public let problem: String

    /// A sentence with the offset and the problem.
    public var description: String { "Invalid JSON at byte \(offset): \(problem)." }
}
