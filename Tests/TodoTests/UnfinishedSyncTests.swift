// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore
import TableServer
import Testing

@testable import todo

/// A sync with several failures reports all of them.
@Suite struct UnfinishedSyncTests {
    private func appWithConflict(_ fixture: TodoFixture, _ transcript: Transcript) async throws -> TodoApp {
        let app = try fixture.app(transcript)
        try await fixture.put("eggs", "Buy eggs")
        try await app.pullWithProgress()
        try await app.edit("eggs", text: "Buy eggs (6)")
        try await fixture.put("eggs", "Buy organic eggs")
        return app
    }

    @Test func `a failed pull after a conflict does not hide the conflict or its exit code`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try await appWithConflict(fixture, transcript)
            fixture.server.onRequest { $0.method == "GET" ? .answer(status: 503) : .none }
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: .cancel) }
            #expect(transcript.text.contains("Error: The server \(fixture.server.url) is not available"))
            #expect(transcript.lines.last?.contains("1 conflict is left pending") == true)
            #expect(transcript.lines.last?.contains("todo conflicts") == true)
        }
    }

    @Test func `a failed push does not hide an earlier conflict or its exit code`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try await appWithConflict(fixture, transcript)
            await #expect(throws: ExitCode(2)) { try await app.push(onConflict: .cancel) }
            fixture.server.onRequest { _ in .answer(status: 503) }
            for command in [app.push, app.sync] {
                let lineCount = transcript.lines.count
                await #expect(throws: ExitCode(2)) { try await command(.cancel) }
                let lines = transcript.lines.dropFirst(lineCount)
                #expect(lines.contains { $0.contains("is not available") }, "\(lines)")
                #expect(lines.last?.contains("1 conflict is left pending") == true)
            }
        }
    }

    @Test func `a refusal and a conflict in one push are both reported`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try await appWithConflict(fixture, transcript)
            try await app.add("Buy milk")
            fixture.server.inject(
                .answer(
                    status: 400, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"error":"No milk"}"#.utf8)),
                when: { $0.method == "POST" })
            await #expect(throws: ExitCode(2)) { try await app.push(onConflict: .cancel) }
            #expect(transcript.text.contains("Buy milk") && transcript.text.contains("No milk"))
            #expect(transcript.lines.last?.contains("1 conflict is left pending") == true)
        }
    }

    @Test func `the status counts the conflicts`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try await appWithConflict(fixture, transcript)
            try await app.add("Buy milk")
            try? await app.push(onConflict: .cancel)
            try await app.edit("eggs", text: "Buy eggs (7)")
            try await app.status()
            #expect(transcript.lines.contains("Queued   1, 1 in conflict"))
        }
    }
}
