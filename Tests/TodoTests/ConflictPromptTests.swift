// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncCore
import TableServer
import Testing

@testable import todo

@Suite struct ConflictPromptTests {
    /// An app with an edit of each of these items that conflicts with one of the server.
    private func conflicting(
        _ ids: [String], _ bench: Bench, _ transcript: Transcript
    ) async throws -> TodoApp {
        let app = try bench.app(transcript)
        for id in ids { try await bench.put(id, id) }
        try await app.pullShowing()
        for id in ids {
            try await app.edit(id, text: "\(id) here")
            try await bench.put(id, "\(id) there")
        }
        return app
    }

    @Test func `the prompt counts the conflicts, and one answer can be used for all that are left`()
        async throws
    {
        try await Bench.run { bench in
            let transcript = Transcript(answers: ["s", "c all"])
            let app = try await conflicting(["a", "b", "c", "d"], bench, transcript)
            try await app.sync(onConflict: nil)
            #expect(transcript.text.contains("1 of 4 · "))
            #expect(transcript.text.contains("2 of 4 · "))
            #expect(!transcript.text.contains("3 of 4 · "))
            #expect(transcript.unusedAnswers == 0)
            #expect(try bench.texts() == ["a there", "b here", "c here", "d here"])
        }
    }

    @Test func `all can be left pending with one answer`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript(answers: ["x all"])
            let app = try await conflicting(["a", "b"], bench, transcript)
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: nil) }
            #expect(transcript.unusedAnswers == 0)
            #expect(try await app.context.pendingOperationCount() == 2)
            #expect(transcript.text.contains("2 conflicts are left pending"))
        }
    }

    @Test func `a single conflict is not counted, and is decided with one letter`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript(answers: ["c"])
            let app = try await conflicting(["a"], bench, transcript)
            try await app.sync(onConflict: nil)
            #expect(!transcript.text.contains("1 of 1") && !transcript.text.contains("add"))
        }
    }

    @Test func `resolving an item without a conflict says so`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await bench.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            await expectFailure(of: app, saying: "\"Buy eggs\"", "has no conflict") {
                try await app.resolve("eg", by: .client)
            }
            await expectFailure(of: app, saying: "nothing whose id begins with 'milk'") {
                try await app.resolve("milk", by: .client)
            }
        }
    }

    @Test func `an insert that meets a deleted row is not shown beside a row that does not exist`()
        async throws
    {
        try await Bench.run { bench in
            let transcript = Transcript()
            let app = try bench.app(transcript)
            try await app.table.insert(["id": "eggs", "text": "Buy eggs (6)", "complete": false])
            try await bench.put("eggs", "Buy organic eggs")
            try await bench.remove("eggs")
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: .cancel) }
            #expect(transcript.text.contains("already exists"))
            #expect(transcript.text.contains("(deleted)"), "\(transcript.text)")
            #expect(!transcript.text.contains("(no such row)"))
        }
    }
}
