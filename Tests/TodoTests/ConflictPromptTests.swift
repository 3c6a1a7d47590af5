// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct ConflictPromptTests {
    /// Creates an app with a conflict for each of these items.
    private func appWithConflicts(
        _ ids: [String], _ fixture: TodoFixture, _ transcript: Transcript
    ) async throws -> TodoApp {
        let app = try fixture.app(transcript)
        for id in ids { try await fixture.put(id, id) }
        try await app.pullWithProgress()
        for id in ids {
            try await app.edit(id, text: "\(id) here")
            try await fixture.put(id, "\(id) there")
        }
        return app
    }

    @Test func `the prompt counts the conflicts, and one answer can apply to all that are left`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["s", "c all"])
            let app = try await appWithConflicts(["a", "b", "c", "d"], fixture, transcript)
            try await app.sync(onConflict: nil)
            #expect(transcript.text.contains("1 of 4 · "))
            #expect(transcript.text.contains("2 of 4 · "))
            #expect(!transcript.text.contains("3 of 4 · "))
            #expect(transcript.unusedAnswers == 0)
            #expect(try fixture.texts() == ["a there", "b here", "c here", "d here"])
        }
    }

    @Test func `one answer can leave all conflicts pending`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["x all"])
            let app = try await appWithConflicts(["a", "b"], fixture, transcript)
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: nil) }
            #expect(transcript.unusedAnswers == 0)
            #expect(try await app.context.pendingOperationCount() == 2)
            #expect(transcript.text.contains("2 conflicts are left pending"))
        }
    }

    @Test func `a single conflict is not counted, and one letter resolves it`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["c"])
            let app = try await appWithConflicts(["a"], fixture, transcript)
            try await app.sync(onConflict: nil)
            #expect(!transcript.text.contains("1 of 1") && !transcript.text.contains("add"))
        }
    }

    @Test func `resolving an item without a conflict is an error`() async throws {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await fixture.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            await expectFailure(of: app, containing: "\"Buy eggs\"", "has no conflict") {
                try await app.resolve("eg", by: .client)
            }
            await expectFailure(of: app, containing: "No item has an id that begins with 'milk'") {
                try await app.resolve("milk", by: .client)
            }
        }
    }

    @Test func `a conflict of an insert with a deleted row shows the server's row as deleted`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await app.table.raw.insert(["id": "eggs", "text": "Buy eggs (6)", "complete": false])
            try await fixture.put("eggs", "Buy organic eggs")
            try await fixture.remove("eggs")
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: .cancel) }
            #expect(transcript.text.contains("The server already has a deleted row"))
            #expect(transcript.text.contains("(deleted)"), "\(transcript.text)")
            #expect(!transcript.text.contains("(no such row)"))
        }
    }
}
