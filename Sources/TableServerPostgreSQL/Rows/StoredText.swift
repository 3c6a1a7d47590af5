// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer

// A text of PostgreSQL cannot contain U+0000, not even escaped in JSON that is read. It is stored as three characters that
// Unicode reserves for internal use, and so are these three. Then U+FDD0 appears only as the start of such a code, and no
// text is found at a position within a code. The database's functions know the codes.
//
//     U+0000  FDD0 FDD1 FDD1        U+FDD1  FDD0 FDD2 FDD1
//     U+FDD0  FDD0 FDD1 FDD2        U+FDD2  FDD0 FDD2 FDD2

extension String {
    /// The text as the database stores it.
    var escapedForPostgreSQL: String {
        guard utf8.contains(where: { $0 == 0 || $0 == StoredCode.firstByte }) else { return self }
        var scalars = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if let code = StoredCode.all[scalar] {
                scalars.append(contentsOf: code)
            } else {
                scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// The text of a JSON object as the database stores it.
    var escapedJSONForPostgreSQL: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == StoredCode.firstByte }) else {
            return self
        }
        var (scalars, rest) = (String.UnicodeScalarView(), unicodeScalars[...])
        while let scalar = rest.popFirst() {
            if scalar == "\\", rest.starts(with: "u0000".unicodeScalars) {
                rest.removeFirst(5)
                scalars.append(contentsOf: StoredCode.all["\0"] ?? [])
            } else if let code = StoredCode.all[scalar] {
                scalars.append(contentsOf: code)
            } else {
                scalars.append(scalar)
                if scalar == "\\", let escaped = rest.popFirst() { scalars.append(escaped) }
            }
        }
        return String(scalars)
    }

    /// The text of a JSON object that the database has stored.
    var unescapedJSONFromPostgreSQL: String {
        guard hasByte(StoredCode.firstByte) else { return self }
        var (scalars, rest) = (String.UnicodeScalarView(), unicodeScalars[...])
        while let scalar = rest.popFirst() {
            guard scalar == StoredCode.start else {
                scalars.append(scalar)
                continue
            }
            let code = [scalar] + rest.prefix(2)
            rest = rest.dropFirst(2)
            guard let decoded = StoredCode.all.first(where: { $0.value == code })?.key else { continue }
            scalars.append(contentsOf: decoded == "\0" ? Array("\\u0000".unicodeScalars) : [decoded])
        }
        return String(scalars)
    }
}

extension String {
    /// Searches many bytes at a time, which `utf8.contains` does not: each field of a list is searched.
    fileprivate func hasByte(_ byte: UInt8) -> Bool {
        var text = self
        return text.withUTF8 { bytes in
            bytes.baseAddress.map { memchr($0, Int32(byte), bytes.count) != nil } ?? false
        }
    }
}

private enum StoredCode {
    static let start = character(0)
    static let all: [Unicode.Scalar: [Unicode.Scalar]] = [
        "\0": [start, character(1), character(1)],
        start: [start, character(1), character(2)],
        character(1): [start, character(2), character(1)],
        character(2): [start, character(2), character(2)],
    ]

    /// Returns a character that Swift does not accept in a literal.
    private static func character(_ offset: UInt32) -> Unicode.Scalar {
        Unicode.Scalar(0xFDD0 + offset) ?? "?"
    }

    /// The first byte of U+FDD0 to U+FDD2.
    static let firstByte: UInt8 = 0xEF
}

extension SQLText {
    var postgreSQLArguments: [String?] {
        arguments.map { argument in
            switch argument {
            case .integer(let value): String(value)
            case .text(let text): text
            case .value(let value): value.postgreSQLValue
            case .json(let value): String(decoding: value.json, as: UTF8.self).escapedJSONForPostgreSQL
            case .number(let value): value.numberText
            }
        }
    }
}

extension ItemValue {
    /// The value as the functions of filters take it: null, or a text whose first character is the type.
    fileprivate var postgreSQLValue: String? {
        switch self {
        case .null: nil
        case .bool(let value): value ? "b1" : "b0"
        case .int(let value): "i\(value)"
        case .double(let value): "d\(value)"
        case .text(let text): "t" + text.escapedForPostgreSQL
        case .date(let date): "z" + date.storedText
        case .array, .object, .data: "j" + String(decoding: json, as: UTF8.self).escapedJSONForPostgreSQL
        }
    }

    fileprivate var numberText: String? {
        switch self {
        case .int(let value): String(value)
        case .double(let value): value.description
        default: nil
        }
    }
}
