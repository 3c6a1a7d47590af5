// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The string without percent-encoding; `nil` for an incomplete escape, and for bytes that are not UTF-8.
    ///
    /// Foundation's `removingPercentEncoding` also removes a byte order mark at the beginning, which can be part of an id.
    var percentDecoded: String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst()?.hexValue, let low = rest.popFirst()?.hexValue else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexValue: UInt8? { Character(UnicodeScalar(self)).hexDigitValue.map(UInt8.init) }
}
