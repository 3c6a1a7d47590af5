// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Versions as they travel in `ETag` and `If-Match`.
enum EntityTag {
    /// The version in quotes, quotes inside it escaped.
    static func header(version: String) -> String {
        "\"" + version.replacing("\"", with: "\\\"") + "\""
    }

    /// The version that an `If-Match` asks for; quotes may be missing. `*` and weak tags stay what they are and so
    /// match no version.
    static func version(inHeader header: String) -> String {
        guard header.utf8.count >= 2, header.utf8.first == 0x22, header.utf8.last == 0x22 else {
            return header
        }
        return String(header.dropFirst().dropLast()).replacing("\\\"", with: "\"")
    }

    /// A tag of some bytes that are no row.
    static func weak(of body: Data) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in body { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "W/\"\(String(body.count, radix: 16))-\(String(hash, radix: 36))\""
    }
}
