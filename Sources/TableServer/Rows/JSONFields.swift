// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// Finds one field in the JSON of a row, without reading the others.
enum JSONFields {
    /// Returns the value of a member of a JSON object that ``SyncCore/ItemValue/json`` has written; null if there is none.
    ///
    /// Names of columns need no escape in JSON, so they are compared as they are.
    static func value(of name: String, in object: String) -> ItemValue {
        var (object, name) = (object, name)
        return object.withUTF8 { bytes in
            name.withUTF8 { name in
                guard let range = range(of: name, in: bytes) else { return .null }
                return (try? ItemValue(json: UnsafeBufferPointer(rebasing: bytes[range]))) ?? .null
            }
        }
    }

    /// Returns the object without the members whose names meet the predicate.
    static func removing(
        from object: String, where predicate: (Slice<UnsafeBufferPointer<UInt8>>) -> Bool
    ) -> String {
        var text = object
        let remaining = text.withUTF8 { bytes -> [UInt8]? in
            guard member(in: bytes, where: predicate) != nil else { return nil }
            var remaining: [UInt8] = []
            _ = member(in: bytes) { name in
                if !predicate(name) {
                    remaining.append(UInt8(ascii: remaining.isEmpty ? "{" : ","))
                    let end = endOfValue(bytes, from: name.endIndex + 2)
                    remaining += bytes[(name.startIndex - 1)..<end]
                }
                return false
            }
            return remaining.isEmpty ? Array("{}".utf8) : remaining + [UInt8(ascii: "}")]
        }
        return remaining.map { String(decoding: $0, as: UTF8.self) } ?? object
    }

    private static func range(
        of name: UnsafeBufferPointer<UInt8>, in bytes: UnsafeBufferPointer<UInt8>
    ) -> Range<Int>? {
        member(in: bytes) { $0.count == name.count && $0.elementsEqual(name) }
    }

    /// Returns the position of the value of the first member whose name meets the predicate.
    private static func member(
        in bytes: UnsafeBufferPointer<UInt8>, where predicate: (Slice<UnsafeBufferPointer<UInt8>>) -> Bool
    ) -> Range<Int>? {
        var position = 1
        while position < bytes.count, bytes[position] == UInt8(ascii: "\"") {
            let nameStart = position + 1
            position = endOfString(bytes, from: position)
            let isFound = predicate(bytes[nameStart..<position - 1])
            // The colon.
            let start = position + 1
            position = endOfValue(bytes, from: start)
            if isFound { return start..<position }
            // The comma.
            position += 1
        }
        return nil
    }

    /// Returns the position after the string that begins here.
    private static func endOfString(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var position = start + 1
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\\"): position += 2
            case UInt8(ascii: "\""): return position + 1
            default: position += 1
            }
        }
        return bytes.count
    }

    /// Returns the position after the value that begins here: at the comma or brace behind it.
    private static func endOfValue(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var (position, depth) = (start, 0)
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position = endOfString(bytes, from: position)
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return position }
                depth -= 1
            case UInt8(ascii: ",") where depth == 0: return position
            default: break
            }
            position += 1
        }
        return position
    }
}
