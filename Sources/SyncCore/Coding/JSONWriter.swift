// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes compact JSON with names in byte order, so that equal values have equal bytes.
struct JSONWriter: ~Copyable {
    private(set) var bytes: ByteWriter

    /// The encoding of dates and binary data, which JSON does not have.
    enum Style {
        /// Plain text: RFC 3339 and base64. A reader needs the table's definition to distinguish them from text.
        case wire
        /// `{"$date":"…"}` and `{"$data":"…"}`. In any other object with one name that begins with `$`, the name is
        /// prefixed with another `$`. A reader needs no definition.
        case tagged
    }

    let style: Style

    /// - Parameter bytes: the bytes to append to.
    init(style: Style, after bytes: consuming ByteWriter = ByteWriter()) {
        self.style = style
        self.bytes = bytes
    }

    mutating func write(_ value: ItemValue) {
        switch value {
        case .null: bytes.append("null")
        case .bool(let bool): bytes.append(bool ? "true" : "false")
        case .int(let int): bytes.append(String(int))
        // The shortest decimal that parses as the same double, always with a point or exponent.
        case .double(let double): bytes.append(double.description)
        case .text(let text): write(text)
        case .date(let date): write(date)
        case .data(let data): write(special: "$data") { $0.write(data.base64EncodedString()) }
        case .array(let values): write(values)
        case .object(let fields): write(object: fields)
        }
    }

    mutating func write(object fields: [String: ItemValue]) {
        let isEscaped = style == .tagged && fields.count == 1 && fields.keys.first?.utf8.first == 0x24
        beginObject()
        for (name, value) in fields.sorted(by: { $0.key.precedesInBytes($1.key) }) {
            write(name: isEscaped ? "$" + name : name)
            write(value)
        }
        endObject()
    }

    // An object can also be written member by member, in byte order of the names.

    mutating func beginObject() { bytes.append(UInt8(ascii: "{")) }

    /// Writes the name of a member; the caller writes its value next.
    mutating func write(name: String) {
        if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        write(name)
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func endObject() { bytes.append(UInt8(ascii: "}")) }

    private mutating func write(_ values: [ItemValue]) {
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(value)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func write(_ date: Timestamp) {
        write(special: "$date") { writer in
            writer.bytes.append(UInt8(ascii: "\""))
            writer.bytes.append(date)
            writer.bytes.append(UInt8(ascii: "\""))
        }
    }

    private mutating func write(special tag: String, _ writeText: (inout JSONWriter) -> Void) {
        guard style == .tagged else { return writeText(&self) }
        beginObject()
        write(name: tag)
        writeText(&self)
        endObject()
    }

    mutating func write(_ text: String) { bytes.append(json: text) }
}

extension ByteWriter {
    /// Appends a text as a JSON string.
    package mutating func append(json text: String) {
        var text = text
        text.withUTF8 { append(json: UnsafeRawBufferPointer($0)) }
    }

    /// Copies runs of bytes that need no escape.
    private mutating func append(json text: UnsafeRawBufferPointer) {
        append(UInt8(ascii: "\""))
        var start = 0
        for index in text.indices where text[index].isEscapedInJSON {
            append(UnsafeRawBufferPointer(rebasing: text[start..<index]))
            append(escaped: text[index])
            start = index + 1
        }
        append(UnsafeRawBufferPointer(rebasing: text[start...]))
        append(UInt8(ascii: "\""))
    }

    private mutating func append(escaped byte: UInt8) {
        append(UInt8(ascii: "\\"))
        guard byte < 0x20 else { return append(byte) }
        append("u00")
        append(Self.hexDigits[Int(byte >> 4)])
        append(Self.hexDigits[Int(byte & 0xF)])
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}

extension UInt8 {
    var isEscapedInJSON: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}
