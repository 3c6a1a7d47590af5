// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes values as compact JSON with object names in byte order, so that equal values give equal bytes.
struct JSONWriter {
    private(set) var bytes: [UInt8]

    /// How dates and binary data, which JSON does not have, are written.
    enum Style {
        /// As plain text: RFC 3339 and base64. The reader needs the table's definition to tell them from text.
        case wire
        /// As `{"$date":"…"}` and `{"$data":"…"}`; any other object with one name that begins with `$` gets
        /// one more `$` in front. The reader needs nothing else.
        case tagged
    }

    let style: Style

    /// - Parameters:
    ///   - prefix: what comes before the values.
    ///   - capacity: how many bytes there will be, about.
    init(style: Style, after prefix: [UInt8] = [], capacity: Int = 0) {
        self.style = style
        bytes = prefix
        bytes.reserveCapacity(capacity)
    }

    mutating func write(_ value: ItemValue) {
        switch value {
        case .null: append("null")
        case .bool(let bool): append(bool ? "true" : "false")
        case .int(let int): append(contentsOf: String(int))
        // Swift prints the shortest text that reads back as the same double, always with a point or exponent.
        case .double(let double): append(contentsOf: double.description)
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

    // An object may also be written field by field; then the names have to come in byte order.

    mutating func beginObject() { bytes.append(UInt8(ascii: "{")) }

    /// Writes the name of a field, whose value has to follow.
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
            date.append(to: &writer.bytes)
            writer.bytes.append(UInt8(ascii: "\""))
        }
    }

    private mutating func write(special tag: String, _ writeText: (inout JSONWriter) -> Void) {
        guard style == .tagged else { return writeText(&self) }
        append("{")
        write(tag)
        append(":")
        writeText(&self)
        append("}")
    }

    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { write($0) }
    }

    /// Copies what needs no escape in one piece.
    private mutating func write(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        for index in text.indices where text[index].isEscapedInJSON {
            bytes.append(contentsOf: text[start..<index])
            write(escaped: text[index])
            start = index + 1
        }
        bytes.append(contentsOf: text[start...])
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(escaped byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        guard byte < 0x20 else { return bytes.append(byte) }
        append("u00")
        bytes.append(Self.hexDigits[Int(byte >> 4)])
        bytes.append(Self.hexDigits[Int(byte & 0xF)])
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)

    private mutating func append(_ literal: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: literal.utf8Start, count: literal.utf8CodeUnitCount))
    }

    private mutating func append(contentsOf text: String) {
        bytes.append(contentsOf: text.utf8)
    }
}

extension UInt8 {
    var isEscapedInJSON: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}
