// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import Testing

@testable import SyncCore

/// Lists of rows have their own reader, which expects the names of the previous row. Its results must equal those of the
/// general JSON reader.
@Suite struct RowListTests {
    @Test(arguments: 0..<8) func `rows equal those of the general JSON reader`(seed: UInt64) async throws {
        var maker = RowListMaker(seed: seed)
        for _ in 0..<300 {
            let text = maker.list()
            let rows = try await objects(in: text)
            // Canonically equivalent names make only their own row unreadable.
            let isReadable = rows?.allSatisfy(\.unreadable.isEmpty) != false
            #expect((isReadable ? rows?.map(\.fields) : nil) == Self.expected(in: text), "\(text)")
        }
    }

    @Test(arguments: 0..<8)
    func `damaged rows are refused as by the general JSON reader, or have unreadable values`(
        seed: UInt64
    )
        async throws
    {
        var maker = RowListMaker(seed: 1000 + seed)
        var (accepted, refused) = (0, 0)
        for _ in 0..<600 {
            let text = maker.damaged(maker.list())
            let rows = try await objects(in: text)
            if rows?.contains(where: { !$0.unreadable.isEmpty }) == true {
                #expect(Self.expected(in: text) == nil, "\(text)")
            } else {
                #expect(rows?.map(\.fields) == Self.expected(in: text), "\(text)")
            }
            if rows == nil { refused += 1 } else { accepted += 1 }
        }
        #expect(accepted > 50 && refused > 50)
    }

    @Test(arguments: [
        #"[{"id":"a","n":1},{"id":"b","n":2},{"id":"c"}]"#,
        #"[{"id":"a"},{"id":"b","n":2},{"n":3,"id":"c"}]"#,
        #"[{"id":"a","n":1},{"i\u0064":"b","\u006e":2}]"#, #"[{"i\u0064":"a"},{"id":"b"},{"i\u0064":"c"}]"#,
        #"[{"id":"a","n":1},{"id":"b","n":2,"n":3},{"id":"b","id":"c"}]"#, #"[{"a\"b":1},{"a\"b":2}]"#,
        #"[{"é":1},{"é":2},{"é":3}]"#, #"[{"":1},{"":2},{}]"#, #"[{"ab":1},{"a":2},{"abc":3}]"#,
        #"[{"a":{"b":1}},{"a":{"c":[]}}]"#, "[{},{}]", " [ { \"id\" : 1 } , { \"id\" : 2 } ] ",
    ])
    func `names may change from row to row`(text: String) async throws {
        let rows = try await rows(in: text)
        #expect(rows != nil)
        #expect(rows == Self.expected(in: text))
    }

    @Test(arguments: 0..<8) func `a reader that has read other rows reads a row like a new reader`(
        seed: UInt64
    )
        async throws
    {
        var maker = RowListMaker(seed: 2000 + seed)
        let definition = SyncTableDefinition(
            "T", columns: [SyncColumn("text", .json), SyncColumn("complete", .json)])
        var read = 0
        for _ in 0..<300 {
            let response = try await response(to: maker.list())
            guard case .rows(let rows, _) = response.body else { continue }
            var reader = WireRowReader(dialect: .v2, definition: definition)
            for row in rows where row.unreadable.isEmpty {
                let expected = try? WireRow(row.fields, dialect: .v2, definition: definition)
                #expect((try? reader.read(row).item) == expected?.item)
                if expected != nil { read += 1 }
            }
        }
        #expect(read > 50)
    }

    private func rows(in text: String) async throws -> [[String: ItemValue]]? {
        try await objects(in: text)?.map(\.fields)
    }

    private func objects(in text: String) async throws -> [WireObject]? {
        guard case .rows(let rows, _) = try await response(to: text).body else { return nil }
        return rows
    }

    private func response(to text: String) async throws -> RemoteResponse {
        try await SyncClient.scripted(ScriptedTransport(200, text))
            .send(RemoteCall(.query([], includesDeleted: false), table: "T"))
    }

    private static func expected(in text: String) -> [[String: ItemValue]]? {
        guard case .array(let values) = try? ItemValue(json: Data(text.utf8)) else { return nil }
        let rows = values.compactMap { value in
            if case .object(let fields) = value { fields } else { nil }
        }
        return rows.count == values.count ? rows : nil
    }
}

/// Makes lists whose rows mostly have the names of the previous row; the same lists for the same seed.
private struct RowListMaker {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func list() -> String {
        var names = ["id", "text", "complete", "version", "updatedAt", "deleted"]
        let rows = (0..<Int.random(in: 0..<6, using: &random)).map { _ in
            if Int.random(in: 0..<3, using: &random) == 0 { change(&names) }
            return "{" + names.map { "\"\($0)\":\(value(of: $0))" }.joined(separator: ",") + "}"
        }
        return "[" + rows.joined(separator: Bool.random(using: &random) ? "," : " ,\n") + "]"
    }

    private mutating func change(_ names: inout [String]) {
        let index = Int.random(in: 0...names.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: names.insert(pick(Self.names), at: index)
        case 1 where index < names.count: names[index] = pick(Self.names)
        case 2 where index < names.count: names.remove(at: index)
        default: names.shuffle(using: &random)
        }
    }

    private static let names = [
        "id", "i\\u0064", "i", "idd", "text", "complete", "", "é", "e\u{301}", "a\\\"b", "a\\\\", "😀",
    ]

    private mutating func value(of name: String) -> String {
        switch name {
        case "id", "version": return pick(["\"a\"", "\"b\""])
        case "updatedAt": return pick(["null", "\"2020-01-01T00:00:00Z\""])
        case "deleted": return pick(["true", "false"])
        default: break
        }
        return pick([
            "1", "-2.5e3", "true", "null", "\"a\"", "\"\\n\"", "{\"id\":[]}", "[{\"id\":1},{\"id\":2}]",
        ])
    }

    private mutating func pick(_ texts: [String]) -> String {
        texts[Int.random(in: 0..<texts.count, using: &random)]
    }

    /// Returns the text with one character changed, removed, inserted or doubled.
    mutating func damaged(_ text: String) -> String {
        var text = Array(text)
        let character: Character = Array("{}[]\",:\\ x1")[Int.random(in: 0..<11, using: &random)]
        let index = Int.random(in: 0..<text.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: text[index] = character
        case 1: text.remove(at: index)
        case 2: text.insert(text[index], at: index)
        default: text.insert(character, at: index)
        }
        return String(text)
    }
}
