// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A name and a value in the query of a URL, before percent-encoding.
package struct QueryParameter: Sendable, Hashable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension String {
    /// The string with all characters percent-encoded except RFC 3986's unreserved ones, so that it is one path segment
    /// or one query value.
    package var percentEncoded: String {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(utf8.count)
        for byte in utf8 {
            if byte.isASCIILetter || byte.isASCIIDigit || "-._~".utf8.contains(byte) {
                encoded.append(byte)
            } else {
                encoded += [
                    UInt8(ascii: "%"), Self.hexDigits[Int(byte >> 4)], Self.hexDigits[Int(byte & 15)],
                ]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}
