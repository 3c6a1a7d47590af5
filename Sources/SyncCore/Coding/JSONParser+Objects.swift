// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
    /// Reads a list of objects.
    ///
    /// - Returns: the objects; `nil` if the value is not a list, or an element is not an object.
    mutating func parseObjects() throws(JSONError) -> [WireObject]? {
        guard isAt(UInt8(ascii: "[")) else {
            try skip()
            return nil
        }
        var objects: [WireObject]? = []
        var names = WireObject.Names([])
        try parseElements { parser throws(JSONError) in
            guard parser.isAt(UInt8(ascii: "{")) else {
                try parser.skip()
                return objects = nil
            }
            let object = try parser.parseObject(expecting: names)
            names = object.names
            objects?.append(object)
        }
        return objects
    }

    /// Reads an object that probably has the names of the previous object. A malformed value is null, and recorded in
    /// ``WireObject/unreadable``.
    mutating func parseObject(
        expecting expected: WireObject.Names = WireObject.Names([])
    ) throws(JSONError) -> WireObject {
        let expectedTexts = expected.texts
        var (others, values, unreadable) = ([String](), [ItemValue](), [Int: String]())
        values.reserveCapacity(expectedTexts.count)
        try parseMembers(expecting: expectedTexts) { name, parser throws(JSONError) in
            let index = values.count
            let isExpected =
                others.isEmpty && index < expectedTexts.count && name.hasSameBytes(as: expectedTexts[index])
            if !isExpected { others.append(name) }
            let value = try parser.parseValueOrSkip { unreadable[index] = $0.problem }
            values.append(value)
        }
        guard others.isEmpty, values.count == expectedTexts.count else {
            let matching = expectedTexts.prefix(values.count - others.count)
            return WireObject(names: matching + others, values: values, unreadable: unreadable)
        }
        return WireObject(names: expected, values: values, unreadable: unreadable)
    }

    /// The problem of an object with names that a dictionary cannot distinguish.
    static let equivalentNames = "two names of an object are canonically equivalent"
}
