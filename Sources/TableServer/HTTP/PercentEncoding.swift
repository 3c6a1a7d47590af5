// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension StringProtocol {
    /// The string without percent-encoding; `nil` for an incomplete escape, and for bytes that are not UTF-8.
    ///
    /// Foundation's `removingPercentEncoding` also removes a byte order mark at the beginning, which can be part of an id.
    var percentDecoded: String? { percentDecoded(plus: UInt8(ascii: "+")) }

    /// The string without percent-encoding, with another character for `+`.
    func percentDecoded(plus: UInt8) -> String? {
        var bytes: [UInt8] = []
        var rest = utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? plus : byte)
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
    fileprivate var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
