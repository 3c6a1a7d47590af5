// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct StatusTests {
    @Test func `the status shows the queue, the errors and the delta tokens`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await fixture.put("eggs", "Buy eggs")
            try await fixture.put("milk", "Buy milk")
            try await app.sync(onConflict: nil)
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await fixture.put("eggs", "Buy organic eggs")
            try? await app.push(onConflict: .cancel)
            try await app.delete("milk")

            let lineCount = transcript.lines.count
            try await app.status()
            let token = try #require(try await app.context.deltaTokens(of: "TodoItem")["all"])
            #expect(
                Array(transcript.lines.dropFirst(lineCount)) == [
                    "Server   \(fixture.server.url)",
                    "Store    memory",
                    "Items    1, 0 done",
                    "Pulled",
                    "  query ID \"all\" up to \(token)",
                    "Queued   2, 1 in conflict",
                    "  update  eggs  Buy eggs (6)",
                    "  delete  milk  Buy milk",
                    "Errors   1",
                    "  update  eggs  The row with this id was changed on the server since it was read. "
                        + "(code -1303)",
                ])
        }
    }

    @Test func `the status of a new device is empty`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            try await fixture.app(transcript).status()
            #expect(
                transcript.lines.dropFirst(2) == [
                    "Items    0, 0 done", "Pulled   never", "Queued   0", "Errors   0",
                ])
        }
    }
}
