// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// The names of JSON objects are compared by their bytes; objects that a Swift dictionary cannot represent are refused.
struct JSONNameTests {
    private func read(_ json: String) throws -> ItemValue { try ItemValue(json: Data(json.utf8)) }

    @Test(arguments: [
        #"{"\#u{E9}":1,"e\#u{301}":2}"#, #"{"a":0,"\u00e9":1,"b":[],"e\u0301":2}"#,
        #"{"y":[{"x":{"\#u{E9}":1,"e\#u{301}":2}}]}"#, #"{"\#u{212B}":1,"\#u{C5}":1}"#,
    ])
    func `an object with two canonically equivalent names cannot be read`(_ json: String) throws {
        let error = #expect(throws: JSONError.self) { try read(json) }
        #expect(error?.problem.contains("names") == true)
        #expect(throws: JSONError.self) { try ItemValue(storedJSON: Data(json.utf8)) }
        // In a list of rows only this row is unreadable.
        let rows = try JSONParser.read(Data("[\(json),{}]".utf8), style: .wire) { parser throws(JSONError) in
            try parser.parseObjects()
        }
        #expect(rows?.map(\.unreadable.isEmpty) == [false, true])
    }

    @Test func `a name is kept byte for byte`() throws {
        for name in ["\u{E9}", "e\u{301}", "\u{212B}"] {
            let json = Data(#"{"\#(name)":1}"#.utf8)
            #expect(try ItemValue(json: json).json == json)
        }
    }

    @Test func `the last value of a repeated name is used`() throws {
        #expect(try read(#"{"a":1,"b":2,"a":3}"#) == ["a": 3, "b": 2])
        #expect(try read("{\"\u{E9}\":1,\"\u{E9}\":2}") == ["\u{E9}": 2])
        #expect(
            try read(#"{"a":{"b":1,"b":{"c":2,"c":4}},"a":{"b":1,"b":{"c":2,"c":3}}}"#)
                == ["a": ["b": ["c": 3]]])
    }

    @Test func `a byte order mark is skipped only before JSON from a server`() throws {
        let mark = "\u{FEFF}"
        #expect(try read(mark + "{}") == [:])
        #expect(try read(mark + " [1]") == [1])
        #expect(try read(#""\#(mark)""#) == .text(mark))
        for json in [mark, mark + mark + "1", "1" + mark, "[\(mark)]", " " + mark + "1"] {
            #expect(throws: JSONError.self) { try read(json) }
        }
        #expect(throws: JSONError.self) { try ItemValue(storedJSON: Data((mark + "1").utf8)) }
    }
}
