// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Writes values as compact JSON with object names in byte order, so that equal values give equal bytes.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []

    /// How dates and binary data, which JSON does not have, are written.
    enum Style {
        /// As plain text: RFC 3339 and base64. The reader needs the table's definition to tell them from text.
        case wire
        /// As `{"$date":"…"}` and `{"$data":"…"}`; any other object with one name that begins with `$` gets
        /// one more `$` in front. The reader needs nothing else.
        case tagged
    }

    let style: Style

    init(style: Style) {
        self.style = style
    }

    mutating func write(_ value: ItemValue) {
        switch value {
        case .null: append("null")
        case .bool(let bool): append(bool ? "true" : "false")
        case .int(let int): append(contentsOf: String(int))
        // Swift prints the shortest text that reads back as the same double, always with a point or exponent.
        case .double(let double): append(contentsOf: double.description)
        case .text(let text): write(text)
        case .date(let date): write(special: "$date", date.description)
        case .data(let data): write(special: "$data", data.base64EncodedString())
        case .array(let values): write(values)
        case .object(let fields): write(object: fields)
        }
    }

    mutating func write(object fields: [String: ItemValue]) {
        let isEscaped = style == .tagged && fields.count == 1 && fields.keys.first?.utf8.first == 0x24
        var isFirst = true
        bytes.append(UInt8(ascii: "{"))
        for (name, value) in fields.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            write(isEscaped ? "$" + name : name)
            bytes.append(UInt8(ascii: ":"))
            write(value)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private mutating func write(_ values: [ItemValue]) {
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            write(value)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private mutating func write(special tag: String, _ text: String) {
        guard style == .tagged else { return write(text) }
        append("{")
        write(tag)
        append(":")
        write(text)
        append("}")
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20:
                append("\\u00")
                bytes.append(Self.hexDigits[Int(byte >> 4)])
                bytes.append(Self.hexDigits[Int(byte & 0xF)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
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
