// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A JSON value of the model server, with a reader and writer of its own, so that the framework's coding is not trusted.
enum ModelJSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case text(String)
    case array([ModelJSON])
    case object([String: ModelJSON])

    init?(data: Data) {
        var reader = Reader(bytes: Array(data))
        guard let value = reader.value(), reader.isAtEnd else { return nil }
        self = value
    }

    /// The JSON text; members are in the order of their names.
    var data: Data {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return Data(bytes)
    }

    var text: String? { if case .text(let text) = self { text } else { nil } }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .int(let value): bytes += String(value).utf8
        case .double(let value): bytes += String(value).utf8
        case .text(let text): Self.write(text, to: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let fields):
            bytes.append(UInt8(ascii: "{"))
            for (index, name) in fields.keys.sorted().enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                (fields[name] ?? .null).write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case ..<0x20:
                let digits = String(byte, radix: 16)
                bytes += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Reads the JSON that clients send: valid, and without surrogate pairs in escapes.
    private struct Reader {
        let bytes: [UInt8]
        private var index = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        var isAtEnd: Bool { index == bytes.count }

        private func peek() -> UInt8 { index < bytes.count ? bytes[index] : 0 }

        private mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard peek() == UInt8(ascii: character) else { return false }
            index += 1
            return true
        }

        mutating func value() -> ModelJSON? {
            switch peek() {
            case UInt8(ascii: "{"): object()
            case UInt8(ascii: "["): array()
            case UInt8(ascii: "\""): text().map(ModelJSON.text)
            default: word()
            }
        }

        private mutating func object() -> ModelJSON? {
            index += 1
            var fields: [String: ModelJSON] = [:]
            if skip("}") { return .object(fields) }
            repeat {
                guard let name = text(), skip(":"), let value = value() else { return nil }
                fields[name] = value
            } while skip(",")
            return skip("}") ? .object(fields) : nil
        }

        private mutating func array() -> ModelJSON? {
            index += 1
            var values: [ModelJSON] = []
            if skip("]") { return .array(values) }
            repeat {
                guard let value = value() else { return nil }
                values.append(value)
            } while skip(",")
            return skip("]") ? .array(values) : nil
        }

        private mutating func word() -> ModelJSON? {
            let start = index
            let ends: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")]
            while index < bytes.count, !ends.contains(bytes[index]) { index += 1 }
            let word = String(decoding: bytes[start..<index], as: UTF8.self)
            return switch word {
            case "null": .null
            case "true": .bool(true)
            case "false": .bool(false)
            default: Int64(word).map(ModelJSON.int) ?? Double(word).map(ModelJSON.double)
            }
        }

        private mutating func text() -> String? {
            guard skip("\"") else { return nil }
            var text: [UInt8] = []
            while index < bytes.count {
                let byte = bytes[index]
                index += 1
                if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
                guard byte == UInt8(ascii: "\\") else {
                    text.append(byte)
                    continue
                }
                switch peek() {
                case UInt8(ascii: "n"): text.append(10)
                case UInt8(ascii: "r"): text.append(13)
                case UInt8(ascii: "t"): text.append(9)
                case UInt8(ascii: "b"): text.append(8)
                case UInt8(ascii: "f"): text.append(12)
                case UInt8(ascii: "u"):
                    let digits = String(decoding: bytes[(index + 1)...].prefix(4), as: UTF8.self)
                    guard let scalar = UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) else {
                        return nil
                    }
                    text += String(scalar).utf8
                    index += 4
                default: text.append(peek())
                }
                index += 1
            }
            return nil
        }
    }
}
