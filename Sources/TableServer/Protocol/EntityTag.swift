// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The form of a version in the headers `ETag` and `If-Match`.
enum EntityTag {
    /// Returns the version in quotes, with quotes inside it escaped.
    static func header(version: String) -> String {
        let hasQuotes = version.utf8.contains(UInt8(ascii: "\""))
        return "\"\(hasQuotes ? version.replacing("\"", with: "\\\"") : version)\""
    }

    /// Returns the version in an `If-Match` header; the quotes are optional. `*` and weak tags are returned unchanged,
    /// so they match no version.
    static func version(inHeader header: String) -> String {
        guard header.utf8.count >= 2, header.utf8.first == 0x22, header.utf8.last == 0x22 else {
            return header
        }
        return String(header.dropFirst().dropLast()).replacing("\\\"", with: "\"")
    }

    /// Whether a list of tags contains the version, or `*`, which every version matches.
    ///
    /// - Parameter weakly: whether weak tags match too: RFC 9110 §8.8.3.2.
    static func list(_ list: String, contains version: String, weakly: Bool) -> Bool {
        tags(in: list).contains { tag in
            guard tag.hasPrefix("W/") else { return tag == "*" || Self.version(inHeader: tag) == version }
            return weakly && Self.version(inHeader: String(tag.dropFirst(2))) == version
        }
    }

    /// Splits a list of tags at the commas outside of quotes.
    private static func tags(in list: String) -> [String] {
        var (tags, tag, isQuoted): ([String], String, Bool) = ([], "", false)
        for character in list {
            // A quote after a backslash is part of the version.
            if character == "\"", tag.last != "\\" { isQuoted.toggle() }
            if character == ",", !isQuoted {
                tags.append(tag)
                tag = ""
            } else if isQuoted || character != " " && character != "\t" {
                tag.append(character)
            }
        }
        return tags + [tag]
    }

    /// Returns a weak tag for bytes that are not a row.
    static func weak(of body: Data) -> String {
        "W/\"\(String(body.count, radix: 16))-\(String(hash(body), radix: 36))\""
    }

    /// Hashes eight bytes at a time, because a body is long; the same in every process. The shift brings the high bits down.
    private static func hash(_ body: Data) -> UInt64 {
        body.withUnsafeBytes { bytes in
            let end = bytes.count / 8 * 8
            var hash = FNV1a.hash(bytes[end...])
            for offset in stride(from: 0, to: end, by: 8) {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                hash = (hash ^ word) &* FNV1a.prime
                hash ^= hash >> 32
            }
            return hash
        }
    }
}
