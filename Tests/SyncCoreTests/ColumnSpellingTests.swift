// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import SyncCore

/// Servers that return the name of a column in another case than the app declares.
@Suite struct ColumnSpellingTests {
    private static let definition = SyncTableDefinition(
        "T",
        columns: [
            SyncColumn("isDone", .bool), SyncColumn("text", .text),
            SyncColumn("note", .text, isLocalOnly: true),
        ])

    /// Reads the row as the response to a write.
    private func answer(_ row: [String: ItemValue]) async throws -> AttemptResponse {
        let body = String(decoding: ItemValue.object(row).json, as: UTF8.self)
        let call = RemoteCall(.update(id: "a", fields: [:], version: nil), table: "T")
        let response = try await SyncClient.scripted(ScriptedTransport(200, body)).send(call)
        return AttemptResponse(response, itemID: "a", definition: Self.definition, dialect: .v2)
    }

    @Test(
        arguments: [
            (["isdone": true, "TEXT": "x"], ["isDone": true, "text": "x"], [:]),
            // The exact name precedes.
            (["isDone": true, "isdone": false], ["isDone": true], ["isdone": false]),
            // Neither is known to be the column.
            (["ISDONE": true, "isdone": false], [:], ["ISDONE": true, "isdone": false]),
            // Local-only columns are not exchanged.
            (["NOTE": "theirs", "text": "x"], ["text": "x"], ["NOTE": "theirs"]),
            (
                ["is_done": true, "text ": "x", "te{t": "y"], [:],
                ["is_done": true, "text ": "x", "te{t": "y"]
            ),
        ] as [([String: ItemValue], [String: ItemValue], [String: ItemValue])])
    func `a member whose name differs in case only is the column, unless there are several`(
        _ members: [String: ItemValue], _ fields: [String: ItemValue], _ undeclared: [String: ItemValue]
    ) async throws {
        let row = members.merging(["id": "a", "version": "1"]) { $1 }
        var reader = WireRowReader(dialect: .v2, definition: Self.definition)
        let pulled = reader.readRecordingProblems(WireObject(row))
        #expect(pulled.problems.isEmpty)
        #expect(pulled.item.fields == fields)
        #expect(pulled.item.system.undeclared == undeclared)
        let pushed = try await answer(row).row
        #expect(pushed?.fields == fields)
        #expect(pushed?.system.undeclared == undeclared)
    }

    @Test func `a value that cannot be read is named by the app's column`() async throws {
        var reader = WireRowReader(dialect: .v2, definition: Self.definition)
        let misfit = reader.readRecordingProblems(WireObject(["id": "a", "isdone": "no"]))
        #expect(misfit.problems.map(\.column) == ["isDone"])
        let names = WireObject.Names(["id", "isdone"])
        let malformed = reader.readRecordingProblems(
            WireObject(names: names, values: ["a", .null], unreadable: [1: "expected a value"]))
        #expect(malformed.problems.map(\.column) == ["isDone"])
        #expect(malformed.item.fields.isEmpty)
        let answer = try await answer(["id": "a", "isdone": "no"])
        #expect(answer.unreadableFields == ["isDone": "no"])
        #expect(answer.row?.fields == [:])
    }

    @Test func `a system property is not a column of a similar name`() throws {
        let definition = SyncTableDefinition("T", columns: [SyncColumn("__VERSION", .text)])
        let wire = try WireRow(["id": "a", "__version": "7"], dialect: .v1, definition: definition)
        #expect(wire.item.fields.isEmpty)
        #expect(wire.item.system.version == "7")
    }
}
