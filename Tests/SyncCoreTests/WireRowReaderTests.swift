// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// Rows with invalid ids or fields, in the response to a query.
@Suite struct WireRowReaderTests {
    private func query(_ body: String) async throws -> [Item] {
        let client = try SyncClient.scripted(ScriptedTransport(200, body))
        return try await client.table("T").query(TableQuery("T")).items
    }

    @Test func `an invalid id does not hide the other rows`() async throws {
        let items = try await query(#"[{"id":"a/b","n":1},{"id":"c"}]"#)
        #expect(items.map(\.id) == ["a/b", "c"])
    }

    @Test(arguments: [#"[{"n":1}]"#, #"[{"id":"a","version":5}]"#, #"[{"id":"a","n":"\ud800"}]"#])
    func `a row that cannot be read is an error`(_ body: String) async throws {
        await #expect(throws: SyncError.self) { try await query(body) }
    }

    @Test func `an unreadable field is reported, and the other fields are read`() throws {
        let definition = SyncTableDefinition(
            "T",
            columns: [
                SyncColumn("n", .integer), SyncColumn("text", .text),
                SyncColumn("here", .text, isLocalOnly: true),
            ])
        var reader = WireRowReader(dialect: .v2, definition: definition)
        let row = reader.readRecordingProblems(
            WireObject(["id": "a", "version": "1", "n": 2.5, "text": "x", "here": 5, "more": 5]))
        #expect(row.item.fields == ["text": "x"])
        #expect(row.item.system.version == "1")
        #expect(row.problems.map(\.column) == ["n"])
    }

    @Test func `a tombstone keeps values that do not fit their columns, for an undelete of the whole row`() {
        let definition = SyncTableDefinition("T", columns: [SyncColumn("n", .integer)])
        var reader = WireRowReader(dialect: .v3, definition: definition)
        let row = reader.readRecordingProblems(
            WireObject(["id": "a", "version": "1", "deleted": true, "n": "high", "more": 5]))
        #expect(row.problems.isEmpty)
        #expect(row.item.system.undeclared == ["n": "high", "more": 5])
    }
}
