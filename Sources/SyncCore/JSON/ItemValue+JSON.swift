// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension ItemValue {
    /// Reads JSON text as it comes over the wire: dates and binary data stay text.
    ///
    /// - Throws: ``JSONError`` for anything outside RFC 8259 and for nesting deeper than 100 levels.
    public init(json: some ContiguousBytes) throws(JSONError) {
        self = try Self.parse(json)
    }

    /// Compact JSON for the wire: dates as RFC 3339 text, binary data as base64 text, names in byte order.
    public var json: Data {
        var writer = JSONWriter(style: .wire)
        writer.write(self)
        return Data(writer.bytes)
    }

    /// Reads what ``storedJSON`` wrote; dates and binary data come back as themselves.
    ///
    /// - Throws: ``JSONError`` when the text was not written by ``storedJSON``.
    public init(storedJSON: some ContiguousBytes) throws(JSONError) {
        self = try Self.parse(storedJSON).untagged()
    }

    /// Compact JSON for a store: every value comes back equal, without knowing any table's definition.
    ///
    /// Dates are written as `{"$date":"…"}` and binary data as `{"$data":"…"}`.
    public var storedJSON: Data {
        var writer = JSONWriter(style: .tagged)
        writer.write(self)
        return Data(writer.bytes)
    }

    private static func parse(_ json: some ContiguousBytes) throws(JSONError) -> ItemValue {
        let result = json.withUnsafeBytes { bytes -> Result<ItemValue, JSONError> in
            var parser = JSONParser(bytes)
            do throws(JSONError) { return .success(try parser.parseDocument()) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func untagged() throws(JSONError) -> ItemValue {
        switch self {
        case .array(let values):
            return .array(try values.map { value throws(JSONError) in try value.untagged() })
        case .object(let fields):
            if fields.count == 1, let (name, value) = fields.first, name.utf8.first == 0x24 {
                return try Self.untagged(name: name, value: value)
            }
            var untagged = fields
            for (name, value) in fields { untagged[name] = try value.untagged() }
            return .object(untagged)
        default:
            return self
        }
    }

    private static func untagged(name: String, value: ItemValue) throws(JSONError) -> ItemValue {
        if name == "$date", let date = value.textValue.flatMap({ Timestamp($0) }) { return .date(date) }
        if name == "$data", let data = value.textValue.flatMap({ Data(base64Encoded: $0) }) {
            return .data(data)
        }
        guard name.hasPrefix("$$") else {
            throw JSONError(offset: 0, problem: "'\(name)' is no tag of stored values")
        }
        return .object([String(name.dropFirst()): try value.untagged()])
    }
}
