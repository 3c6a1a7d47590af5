// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncCore

/// Numbers that JSON does not have, as some writers of JSON write them.
@Suite struct NonFiniteNumberTests {
    private static let definition = SyncTableDefinition(
        "T", columns: [SyncColumn("n", .json), SyncColumn("text", .text)])

    private func response(to action: RemoteCall.Action, _ body: String) async throws -> RemoteResponse {
        try await SyncClient.scripted(ScriptedTransport(200, body)).send(RemoteCall(action, table: "T"))
    }

    private func response(toQuery body: String) async throws -> RemoteResponse {
        try await response(to: .query([], includesDeleted: false), body)
    }

    @Test(arguments: ["NaN", "Infinity", "-Infinity", "[NaN]", #"{"a":Infinity,"b":[1,"}"]}"#])
    func `a number that JSON does not have makes only its own row unreadable`(_ value: String) async throws {
        let rows = #"[{"id":"a","n":\#(value),"text":"x"},{"n":\#(value),"id":"b"},{"id":"c","n":1}]"#
        for body in [rows, #"{"results":\#(rows),"count":3}"#] {
            guard case .rows(let objects, _) = try await response(toQuery: body).body else {
                Issue.record("\(body) is not a list.")
                continue
            }
            var reader = WireRowReader(dialect: .v2, definition: Self.definition)
            let read = objects.map { reader.readRecordingProblems($0) }
            #expect(read.map(\.item.id) == ["a", "b", "c"])
            #expect(read.map { $0.problems.map(\.column) } == [["n"], ["n"], []])
        }
    }

    @Test func `a response with one row lacks such a number`() async throws {
        let response = try await response(to: .read(id: "a"), #"{"id":"a","n":NaN,"text":"x"}"#)
        #expect(response.body == .row(["id": "a", "text": "x"]))
        #expect(response.lacksMalformedValues)
    }

    @Test(arguments: [
        "NaN", "[NaN]", "[Infinity,{}]", #"{"results":NaN}"#, #"[{"id":"a","n":NaN"#,
        #"[{"id":"a","n":Infinity]"#, #"[{NaN:1}]"#, "Not found", "Internal error", "<p>NaN</p>",
    ])
    func `a body that is no list of rows stays an error`(_ body: String) async throws {
        guard case .unreadable = try await response(toQuery: body).body else {
            Issue.record("\(body) is a list.")
            return
        }
    }
}
