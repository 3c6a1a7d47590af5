// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension ItemValue {
    /// Reads JSON of the wire: dates and binary data remain text. A leading byte order mark is skipped.
    ///
    /// - Throws: ``JSONError`` for anything outside RFC 8259, for nesting deeper than 100 levels, and for an object with
    ///   two names that are canonically equivalent.
    public init(json: some ContiguousBytes) throws(JSONError) {
        self = try Self.parse(json, style: .wire)
    }

    /// Compact JSON for the wire: dates as RFC 3339 text, binary data as base64 text, names in byte order.
    public var json: Data {
        var writer = JSONWriter(style: .wire)
        writer.write(self)
        return writer.bytes.data
    }

    /// Reads a value from its ``storedJSON``.
    ///
    /// - Throws: ``JSONError`` when the text was not written by ``storedJSON``.
    @_spi(StoreAuthor) public init(storedJSON: some ContiguousBytes) throws(JSONError) {
        self = try Self.parse(storedJSON, style: .tagged)
    }

    /// Compact JSON for a store. Reading it returns an equal value, without the table's definition.
    ///
    /// Dates are written as `{"$date":"…"}` and binary data as `{"$data":"…"}`.
    @_spi(StoreAuthor) public var storedJSON: Data {
        var writer = JSONWriter(style: .tagged)
        writer.write(self)
        return writer.bytes.data
    }

    private static func parse(
        _ json: some ContiguousBytes, style: JSONWriter.Style
    ) throws(JSONError) -> ItemValue {
        try JSONParser.read(json, style: style) { parser throws(JSONError) in try parser.parseDocument() }
    }
}

extension JSONParser {
    /// Calls the body with a parser of the JSON text.
    static func read<Result>(
        _ json: some ContiguousBytes, style: JSONWriter.Style,
        _ body: (inout JSONParser) throws(JSONError) -> Result
    ) throws(JSONError) -> Result {
        let result = json.withUnsafeBytes { bytes -> Swift.Result<Result, JSONError> in
            var parser = JSONParser(bytes, style: style)
            do throws(JSONError) { return .success(try body(&parser)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
