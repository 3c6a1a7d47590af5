// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore
import TableServer
import Testing

@testable import todo

/// A sync in which more than one thing goes wrong reports all of it.
@Suite struct UnfinishedSyncTests {
    private func conflicting(_ bench: Bench, _ transcript: Transcript) async throws -> TodoApp {
        let app = try bench.app(transcript)
        try await bench.put("eggs", "Buy eggs")
        try await app.pullShowing()
        try await app.edit("eggs", text: "Buy eggs (6)")
        try await bench.put("eggs", "Buy organic eggs")
        return app
    }

    @Test func `a pull that fails after a conflict hides neither the conflict nor its exit code`()
        async throws
    {
        try await Bench.run { bench in
            let transcript = Transcript()
            let app = try await conflicting(bench, transcript)
            bench.server.onRequest { $0.method == "GET" ? .answer(status: 503) : .none }
            await #expect(throws: ExitCode(2)) { try await app.sync(onConflict: .cancel) }
            #expect(transcript.text.contains("Error: The server \(bench.server.url) is not available"))
            #expect(transcript.lines.last?.contains("1 conflict is left pending") == true)
            #expect(transcript.lines.last?.contains("todo conflicts") == true)
        }
    }

    @Test func `a refusal beside a conflict hides neither`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript()
            let app = try await conflicting(bench, transcript)
            try await app.add("Buy milk")
            bench.server.inject(
                .answer(
                    status: 400, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"error":"No milk"}"#.utf8)),
                when: { $0.method == "POST" })
            await #expect(throws: ExitCode(2)) { try await app.push(onConflict: .cancel) }
            #expect(transcript.text.contains("Buy milk") && transcript.text.contains("No milk"))
            #expect(transcript.lines.last?.contains("1 conflict is left pending") == true)
        }
    }

    @Test func `the status counts what waits for a decision`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript()
            let app = try await conflicting(bench, transcript)
            try await app.add("Buy milk")
            try? await app.push(onConflict: .cancel)
            try await app.edit("eggs", text: "Buy eggs (7)")
            try await app.status()
            #expect(transcript.lines.contains("Queued   1, 1 in conflict"))
        }
    }
}
