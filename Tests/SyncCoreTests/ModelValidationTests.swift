// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// The valid ids, names of tables and columns, and values.
@Suite struct ModelValidationTests {
    private func code(_ body: () throws -> Void) -> SyncError.Code? {
        do { try body() } catch { return (error as? SyncError)?.code }
        return nil
    }

    // MARK: Ids

    @Test(arguments: [
        "a", " ", "a b", "é", "e\u{301}", "😀", "'", "%2F", "&=;:@$,!*()[]{}<>|^~", "...", ".a", "a.", "-",
        "\u{2028}",
        "\u{202E}", String(repeating: "x", count: 255), String(repeating: "😀", count: 255), "DROP TABLE x;--",
    ])
    func `an id is valid`(_ id: String) { #expect(code { try ItemID.validate(id) } == nil) }

    @Test(arguments: [
        "", ".", "..", "a\"b", "a+b", "a?b", "a\\b", "a/b", "a#b", "a`b", "\u{0}", "a\nb", "\t", "\u{7F}",
        "\u{85}",
        String(repeating: "x", count: 256), String(repeating: "😀", count: 256),
        String(repeating: "e\u{301}", count: 128),
    ])
    func `an id is invalid`(_ id: String) { #expect(code { try ItemID.validate(id) } == .invalidItemID) }

    @Test func `the error of an invalid id names the id and the table`() {
        func message(_ id: String, in table: String?) -> String? {
            let error = #expect(throws: SyncError.self) { try ItemID.validate(id, in: table) }
            return error?.message
        }
        let rule = #"it contains '/'; none of " + ? \ / # ` is allowed."#
        #expect(message("a/b", in: "Todo") == "The id 'a/b' of an item in 'Todo' is not valid: \(rule)")
        #expect(message("a/b", in: nil) == "The id 'a/b' is not valid: \(rule)")
        #expect(message("", in: "Todo") == "The id of an item in 'Todo' is not valid: it is empty.")
        #expect(message("a\n", in: nil)?.hasPrefix("The id 'a\u{FFFD}' is not valid") == true)
        let long = String(repeating: "x", count: 64)
        let shortened = message(long + String(repeating: "y", count: 200), in: nil)
        #expect(shortened?.hasPrefix("The id '\(long)…' is not valid") == true)
    }

    // MARK: Tables

    private func catalog(_ tables: SyncTableDefinition...) -> SyncError.Code? {
        code { _ = try TableCatalog(tables) }
    }

    @Test func `names are letters, digits and underscores, of limited length`() {
        for name in ["T", "_t", "t1", String(repeating: "t", count: 128), "order", "select", "rowid"] {
            #expect(catalog(SyncTableDefinition(name, columns: [SyncColumn(name, .text)])) == nil, "\(name)")
        }
        for name in [
            "", "1t", "a b", "a-b", "a\"b", "a;DROP TABLE x", "é", "a\u{0}", "😀",
            String(repeating: "t", count: 129),
        ] {
            #expect(catalog(SyncTableDefinition(name, columns: [])) == .invalidTableDefinition, "\(name)")
            #expect(
                catalog(SyncTableDefinition("T", columns: [SyncColumn(name, .text)]))
                    == .invalidTableDefinition)
        }
    }

    @Test func `reserved names and names that differ only in case are refused`() {
        for name in ["MS_TableOperations", "ms_x", "sqlite_master", "SQLITE_x"] {
            #expect(catalog(SyncTableDefinition(name, columns: [])) == .invalidTableDefinition)
        }
        for name in ["id", "ID", "createdAt", "UPDATEDAT", "version", "deleted"] {
            let error = #expect(throws: SyncError.self) {
                try TableCatalog([SyncTableDefinition("T", columns: [SyncColumn(name, .text)])])
            }
            #expect(error?.code == .invalidTableDefinition)
            #expect(error?.message.hasPrefix("Every table has the column '\(name)'.") == true)
        }
        let twins = [SyncColumn("a", .text), SyncColumn("A", .text)]
        #expect(catalog(SyncTableDefinition("T", columns: twins)) == .invalidTableDefinition)
        #expect(
            catalog(SyncTableDefinition("T", columns: []), SyncTableDefinition("t", columns: []))
                == .invalidTableDefinition)
    }

    @Test func `a table or a column that is listed twice is named as such`() {
        let table = SyncTableDefinition("Todo", columns: [SyncColumn("a", .text)])
        let tables = #expect(throws: SyncError.self) { try TableCatalog([table, table]) }
        #expect(tables?.message == "'Todo' is listed twice in the tables. List it once.")
        let columns = #expect(throws: SyncError.self) {
            try TableCatalog([SyncTableDefinition("Todo", columns: table.columns + table.columns)])
        }
        #expect(columns?.message == "'a' is listed twice in the columns of 'Todo'. List it once.")
        let cases = #expect(throws: SyncError.self) {
            try TableCatalog([table, SyncTableDefinition("TODO", columns: [])])
        }
        #expect(cases?.message == "Two tables have the name 'TODO' if case is ignored.")
    }

    @Test func `parents are declared tables, and no table is its own ancestor`() {
        let a = SyncTableDefinition("A", columns: [], parents: ["B"])
        #expect(catalog(a) == .invalidTableDefinition)
        #expect(catalog(a, SyncTableDefinition("B", columns: [])) == nil)
        #expect(catalog(a, SyncTableDefinition("B", columns: [], parents: ["A"])) == .invalidTableDefinition)
        #expect(catalog(SyncTableDefinition("A", columns: [], parents: ["A"])) == .invalidTableDefinition)
        // Tables outside the cycle are not named.
        let error = #expect(throws: SyncError.self) {
            try TableCatalog([
                a, SyncTableDefinition("B", columns: [], parents: ["A", "Root"]),
                SyncTableDefinition("Root", columns: []),
                SyncTableDefinition("Child", columns: [], parents: ["A"]),
                SyncTableDefinition("Grandchild", columns: [], parents: ["Child"]),
            ])
        }
        #expect(error?.message == "The parents of the tables 'A', 'B' form a cycle.")
    }

    @Test func `an unknown table is an error`() throws {
        let catalog = try TableCatalog([SyncTableDefinition("Todo", columns: [])])
        #expect(code { _ = try catalog.table(named: "todo") } == .unknownTable)
        #expect(throws: SyncError.self) { try catalog.table(named: "Nosuch") }
    }

    @Test func `the error of an unknown column names the columns of the table`() {
        let columns = [SyncColumn("text", .text), SyncColumn("done", .bool)]
        let table = SyncTableDefinition("Todo", columns: columns)
        let filter = #expect(throws: SyncError.self) {
            try TableQuery("Todo").order(by: "txet").validate(against: table)
        }
        #expect(
            filter?.message == """
                The table 'Todo' has no column 'txet'. It has 'id', 'text', 'done', 'createdAt', 'updatedAt', 'version', \
                'deleted'.
                """)
        let field = #expect(throws: SyncError.self) { try table.normalizedForWriting(["txet": "x"]) }
        #expect(
            field?.message == """
                The column 'txet' of the table 'Todo' is not declared. The declared columns are 'text', 'done'.
                """)
        let bare = SyncTableDefinition("Todo", columns: [])
        let none = #expect(throws: SyncError.self) { try bare.normalizedForWriting(["txet": "x"]) }
        #expect(
            none?.message == "The column 'txet' of the table 'Todo' is not declared. No columns are declared."
        )
    }

    // MARK: Values

    private static let definition = SyncTableDefinition(
        "T",
        columns: ColumnType.allCases.map { SyncColumn($0.rawValue, $0) } + [
            SyncColumn("local", .text, isLocalOnly: true)
        ])

    private static let time = Timestamp.unixEpoch

    private static let deep = (0..<60).reduce(ItemValue.null) { value, _ in .array([value]) }

    @Test(
        arguments: [
            ("bool", .bool(true), .bool(true)), ("integer", 5, 5), ("integer", 5.0, 5),
            ("integer", .int(.min), .int(.min)),
            ("double", 1, 1.0), ("double", -0.0, -0.0), ("double", .int(1 << 53), .double(0x1p53)),
            ("text", "5", "5"),
            ("date", "1970-01-01T00:00:00.000Z", .date(time)), ("date", .date(time), .date(time)),
            ("data", "AQI=", .data(Data([1, 2]))), ("json", ["a": [1, nil, "x"]], ["a": [1, nil, "x"]]),
            ("json", [.date(time), .data(Data([1]))], ["1970-01-01T00:00:00.000Z", "AQ=="]),
        ] as [(String, ItemValue, ItemValue)])
    func `a value that fits its column is converted without loss`(
        _ column: String, _ value: ItemValue, _ stored: ItemValue
    ) throws {
        for name in ColumnType.allCases.map(\.rawValue) {
            #expect(try Self.definition.normalizedForWriting([name: nil]) == [name: .null])
        }
        #expect(try Self.definition.normalizedForWriting([column: value]) == [column: stored])
        #expect(try Self.definition.normalizedFromServer([column: value]) == [column: stored])
    }

    @Test(
        arguments: [
            ("bool", 1), ("bool", "true"), ("integer", 1.5), ("integer", "1"), ("integer", .bool(true)),
            ("integer", 1e19),
            ("double", .double(.nan)), ("double", .double(.infinity)), ("double", .int(.max)),
            ("double", "1"), ("text", 1),
            ("text", ["a"]), ("date", "yesterday"), ("date", 0), ("data", "?"), ("data", 1),
            ("json", .double(.nan)),
            ("json", [["a": .double(-.infinity)]]), ("json", deep), ("nosuch", 1), ("id", "x"),
            ("version", "x"),
            ("updatedAt", "x"), ("Text", "x"),
        ] as [(String, ItemValue)])
    func `a value that does not fit its column is refused`(
        _ column: String, _ value: ItemValue
    ) {
        #expect(code { _ = try Self.definition.normalizedForWriting([column: value]) } == .invalidItem)
    }

    @Test
    func `undeclared columns of a server's row are dropped, and local-only columns are never exchanged`()
        throws
    {
        let row: [String: ItemValue] = ["text": "x", "nosuch": 1, "local": "server", "Text": 1]
        #expect(try Self.definition.normalizedFromServer(row) == ["text": "x"])
        #expect(try Self.definition.normalizedForWriting(["local": "mine"]) == ["local": "mine"])
        #expect(
            Self.definition.syncedFields(of: Item(id: "x", fields: ["local": "mine", "text": "x"])) == [
                "text": "x"
            ])
    }
}
