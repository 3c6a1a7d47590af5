// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct ConflictDialogueTests {
    /// Creates an app whose edit "Buy eggs (6)" conflicts with "Buy organic eggs" on the server.
    private func appWithConflict(_ fixture: TodoFixture, _ transcript: Transcript, isInteractive: Bool = true)
        async throws
        -> TodoApp
    {
        let app = try fixture.app(transcript, isInteractive: isInteractive)
        try await fixture.put("eggs", "Buy eggs")
        try await app.pullWithProgress()
        try await app.edit("eggs", text: "Buy eggs (6)")
        try await fixture.put("eggs", "Buy organic eggs")
        return app
    }

    @Test func `both values are shown with their versions, and the errors with their codes`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["x"])
            let app = try await appWithConflict(fixture, transcript)
            let client = try #require(try await app.table.raw.item(id: "eggs")?.system.version)
            let server = try #require(try fixture.server.row("eggs", in: "TodoItem")?.version)
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: nil) }
            #expect(transcript.text.contains("(code -1170)"))
            #expect(
                transcript.text.contains(
                    "The row with this id was changed on the server since it was read. (code -1303)")
            )
            for (left, right) in [("Buy eggs (6)", "Buy organic eggs"), (client, server)] {
                #expect(transcript.lines.contains { $0.contains(left) && $0.hasSuffix(right) })
            }
            #expect(transcript.text.contains("Use client"))
        }
    }

    @Test(arguments: [ConflictChoice.client, .server])
    func `a choice holds although another program has sent the change again meanwhile`(
        _ choice: ConflictChoice
    ) async throws {
        try await TodoFixture.run { fixture in
            let app = try await appWithConflict(fixture, Transcript())
            _ = try? await app.context.push()
            let shown = try #require(try await app.errorsToDecide().first)
            _ = try? await app.context.push()
            try await app.resolve(shown, by: choice)
            try await app.sync(onConflict: nil)
            #expect(
                try fixture.texts() == [choice == .client ? "Buy eggs (6)" : "Buy organic eggs"])
        }
    }

    @Test func `the choice client sends the client's value`() async throws {
        try await TodoFixture.run { fixture in
            let app = try await appWithConflict(fixture, Transcript(answers: ["what?", "c"]))
            try await app.sync(onConflict: nil)
            #expect(try fixture.texts() == ["Buy eggs (6)"])
            #expect(try await app.texts() == ["Buy eggs (6)"])
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }

    @Test func `the choice server applies the server's value`() async throws {
        try await TodoFixture.run { fixture in
            let app = try await appWithConflict(fixture, Transcript(answers: ["s"]))
            try await app.sync(onConflict: nil)
            #expect(try fixture.texts() == ["Buy organic eggs"])
            #expect(try await app.texts() == ["Buy organic eggs"])
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }

    @Test
    func `the choice cancel leaves the change pending, other rows are pulled, and the next sync asks again`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["x", "c"])
            let app = try await appWithConflict(fixture, transcript)
            try await fixture.put("milk", "Buy milk")
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: nil) }
            #expect(try fixture.texts() == ["Buy milk", "Buy organic eggs"])
            #expect(try await app.texts() == ["Buy eggs (6)", "Buy milk"])
            #expect(try await app.context.pendingOperationCount() == 1)
            try await app.sync(onConflict: nil)
            #expect(try fixture.texts() == ["Buy eggs (6)", "Buy milk"])
            #expect(transcript.unusedAnswers == 0)
        }
    }

    @Test func `the user is asked again while the server's row keeps changing`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["c", "c", "c"])
            let app = try await appWithConflict(fixture, transcript)
            let patches = Counter()
            fixture.server.onRequest { request in
                guard request.method == "PATCH", (2...3).contains(patches.next()) else { return .none }
                try? await fixture.put("eggs", "Buy eggs again")
                return .none
            }
            try await app.sync(onConflict: nil)
            #expect(transcript.unusedAnswers == 0)
            #expect(transcript.lines.filter { $0.contains("Server Conflict") }.count == 3)
            #expect(try fixture.texts() == ["Buy eggs (6)"])
        }
    }

    @Test func `an automatic choice ends after a limit while the server's row keeps changing`() async throws {
        try await TodoFixture.run { fixture in
            let app = try await appWithConflict(fixture, Transcript())
            fixture.server.onRequest { request in
                if request.method == "PATCH" { try? await fixture.put("eggs", "Buy eggs again") }
                return .none
            }
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: .client) }
            #expect(try await app.texts() == ["Buy eggs (6)"])
        }
    }

    @Test(arguments: [(ConflictChoice.client, "Buy eggs (6)"), (.server, "Buy organic eggs")])
    func `with a choice on the command line the user is not asked`(_ choice: ConflictChoice, winner: String)
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["x"])
            let app = try await appWithConflict(fixture, transcript)
            try await app.sync(onConflict: choice)
            #expect(try fixture.texts() == [winner])
            #expect(try await app.texts() == [winner])
            #expect(transcript.unusedAnswers == 1)
        }
    }

    @Test func `without a terminal conflicts are left pending`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript(answers: ["c"])
            let app = try await appWithConflict(fixture, transcript, isInteractive: false)
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: nil) }
            #expect(transcript.unusedAnswers == 1)
            #expect(try await app.context.pendingOperationCount() == 1)
        }
    }

    @Test(arguments: [(ConflictChoice.client, "Buy eggs (6)"), (.server, "Buy organic eggs")])
    func `a conflict can be resolved later, by the beginning of the item's id`(
        _ choice: ConflictChoice, winner: String
    ) async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try await appWithConflict(fixture, transcript)
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: .cancel) }
            try await app.listConflicts()
            #expect(transcript.lines.filter { $0.contains("Server Conflict") }.count == 2)
            await expectFailure(of: app, containing: "'milk'") { try await app.resolve("milk", by: choice) }
            try await app.resolve("eg", by: choice)
            try await app.sync(onConflict: nil)
            #expect(try fixture.texts() == [winner])
            #expect(try await app.texts() == [winner])
        }
    }
}
