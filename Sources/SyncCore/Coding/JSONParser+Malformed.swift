// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
    /// Reads a value. A malformed value is skipped and returned as null if its end can be found.
    ///
    /// - Parameter report: receives the error of a malformed value.
    mutating func parseValueOrSkip(_ report: (JSONError) -> Void) throws(JSONError) -> ItemValue {
        let (start, outerDepth) = (position, depth)
        do throws(JSONError) {
            return try parseValue()
        } catch {
            (position, depth) = (start, outerDepth)
            guard skipMalformedValue() else { throw error }
            report(error)
            return .null
        }
    }

    /// Skips a value by its quotes and brackets only. Some writers of JSON write NaN and Infinity as numbers.
    ///
    /// - Returns: whether the end was found.
    private mutating func skipMalformedValue() -> Bool {
        guard position < bytes.count,
            "\"{[-0123456789NI".utf8.contains(bytes[position])
        else { return false }
        var brackets: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                guard skipMalformedString() else { return false }
                if brackets.isEmpty { return true }
                continue
            case UInt8(ascii: "{"): brackets.append(UInt8(ascii: "}"))
            case UInt8(ascii: "["): brackets.append(UInt8(ascii: "]"))
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard let bracket = brackets.popLast() else { return true }
                guard bracket == byte else { return false }
                if brackets.isEmpty {
                    position += 1
                    return true
                }
            case UInt8(ascii: ","):
                if brackets.isEmpty { return true }
            default: break
            }
            position += 1
        }
        return false
    }

    private mutating func skipMalformedString() -> Bool {
        position += 1
        while position < bytes.count {
            let byte = bytes[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return true }
        }
        return false
    }
}
