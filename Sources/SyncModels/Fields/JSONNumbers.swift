// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// Checks the numbers of encoded JSON: an `ItemValue` holds 64-bit integers and doubles.
enum JSONNumbers {
    /// An object or an array around the current byte.
    private enum Container {
        /// The bytes of the current member's name with its quotes; empty before the first name.
        case object(name: Range<Int>)
        /// The index of the current element.
        case array(index: Int)
    }

    /// Returns the path of the first number of which neither an integer of 64 bits nor a double holds all digits, such as
    /// `coins[2].hash`; empty if the JSON is that number, and `nil` if there is none.
    static func pathOfInexactNumber(in json: Data) -> String? {
        json.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> String? in
            var containers: [Container] = []
            var (index, isInName) = (0, false)
            while index < bytes.count {
                switch bytes[index] {
                case UInt8(ascii: "\""):
                    let start = index
                    index = min(endOfString(at: start, in: bytes), bytes.count)
                    if isInName { containers[containers.count - 1] = .object(name: start..<index) }
                    isInName = false
                    continue
                case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                    let rest = bytes[index...]
                    let literal = rest.prefix { $0.isInNumber }
                    guard isExact(String(decoding: literal, as: UTF8.self)) else {
                        return path(containers, in: bytes)
                    }
                    index = literal.endIndex
                    continue
                case UInt8(ascii: "{"):
                    containers.append(.object(name: 0..<0))
                    isInName = true
                case UInt8(ascii: "["): containers.append(.array(index: 0))
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    _ = containers.popLast()
                    isInName = false
                case UInt8(ascii: ","):
                    switch containers.last {
                    case .array(let element)?: containers[containers.count - 1] = .array(index: element + 1)
                    case .object?: isInName = true
                    case nil: break
                    }
                default: break
                }
                index += 1
            }
            return nil
        }
    }

    private static func path(_ containers: [Container], in bytes: UnsafeRawBufferPointer) -> String {
        containers.reduce(into: "") { path, container in
            switch container {
            case .array(let index): path += "[\(index)]"
            case .object(let name):
                let text = (try? ItemValue(json: Data(bytes[name])))?.textValue ?? ""
                path += path.isEmpty ? text : "." + text
            }
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
    /// The path of the number in the JSON; empty if the JSON is the number.
    let path: String

    var description: String {
        let place = path.isEmpty ? "" : " at '\(path)'"
        return "it has a number\(place) with more digits than a 64-bit integer or a double holds; store the "
            + "number as text"
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
