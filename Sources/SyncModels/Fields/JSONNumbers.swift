// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Checks the numbers of encoded JSON: an `ItemValue` holds 64-bit integers and doubles.
enum JSONNumbers {
    /// Whether an integer of 64 bits or a double holds every number with all its digits.
    static func areExact(in json: Data) -> Bool {
        json.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> Bool in
            var index = 0
            while index < bytes.count {
                switch bytes[index] {
                case UInt8(ascii: "\""):
                    index = endOfString(at: index, in: bytes)
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    let rest = bytes[index...]
                    let literal = rest.prefix { $0.isInNumber }
                    guard isExact(String(decoding: literal, as: UTF8.self)) else { return false }
                    index = literal.endIndex
                default:
                    index += 1
                }
            }
            return true
        }
    }

    /// Returns the index behind the closing quote.
    private static func endOfString(at start: Int, in bytes: UnsafeRawBufferPointer) -> Int {
        var index = start + 1
        while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
            index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return index + 1
    }

    private static func isExact(_ literal: String) -> Bool {
        if Int64(literal) != nil { return true }
        guard let double = Double(literal), double.isFinite else { return false }
        // The shortest text from which the same double is read.
        return DecimalDigits(literal) == DecimalDigits(double.description)
    }
}

/// A decimal number without sign: its digits from the first to the last that is not zero, and the exponent of the last.
private struct DecimalDigits: Equatable {
    private var digits: [UInt8] = []
    private var exponent = 0

    init(_ number: String) {
        let parts = number.split { $0 == "e" || $0 == "E" }
        var hasPoint = false
        for byte in parts[0].utf8 {
            switch byte {
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
                if hasPoint { exponent -= 1 }
            default: break
            }
        }
        if parts.count > 1 { exponent += Int(parts[1]) ?? 0 }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { exponent = 0 }
    }
}

/// The error of a number in JSON that cannot be stored exactly.
struct InexactNumber: Error, CustomStringConvertible {
    var description: String {
        "it has a number with more digits than a 64-bit integer or a double holds; store the number as text"
    }
}

extension UInt8 {
    /// Whether the byte can be in a number of JSON.
    fileprivate var isInNumber: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
