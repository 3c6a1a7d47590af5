// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension JSONParser {
    /// Reads a value that is a list of objects.
    ///
    /// - Returns: the objects; `nil` when the value is something else, or has something else among them.
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

    /// Reads an object whose names are likely to be those of the one before it. A value that cannot be read is null, and
    /// listed in ``WireObject/unreadable``.
    private mutating func parseObject(expecting expected: WireObject.Names) throws(JSONError) -> WireObject {
        let expectedTexts = expected.texts
        var (others, values, unreadable) = ([String](), [ItemValue](), [Int: String]())
        values.reserveCapacity(expectedTexts.count)
        try parseMembers(expecting: expectedTexts) { name, parser throws(JSONError) in
            let place = values.count
            let isExpected =
                others.isEmpty && place < expectedTexts.count && name.hasSameBytes(as: expectedTexts[place])
            if !isExpected { others.append(name) }
            let value = try parser.parseValueOrSkip { unreadable[place] = $0.problem }
            values.append(value)
        }
        guard others.isEmpty, values.count == expectedTexts.count else {
            let matching = expectedTexts.prefix(values.count - others.count)
            return WireObject(names: matching + others, values: values, unreadable: unreadable)
        }
        return WireObject(names: expected, values: values, unreadable: unreadable)
    }

    /// Why an object is refused whose names a dictionary would not keep apart.
    static var equivalentNames: String { "two names of an object are canonically equivalent" }
}
