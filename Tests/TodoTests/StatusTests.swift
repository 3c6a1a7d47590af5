// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

@testable import todo

@Suite struct StatusTests {
    @Test func `queue, errors and delta tokens are shown`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript()
            let app = try bench.app(transcript)
            try await bench.put("eggs", "Buy eggs")
            try await bench.put("milk", "Buy milk")
            try await app.sync(onConflict: nil)
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await bench.put("eggs", "Buy organic eggs")
            try? await app.push(onConflict: .cancel)
            try await app.delete("milk")

            let seen = transcript.lines.count
            try await app.status()
            let token = try #require(try await app.context.deltaTokens(of: "TodoItem")["all"])
            #expect(
                Array(transcript.lines.dropFirst(seen)) == [
                    "Server   \(bench.server.url)",
                    "Store    memory",
                    "Items    1, 0 done",
                    "Pulled",
                    "  query ID \"all\" up to \(token)",
                    "Queued   2, 1 in conflict",
                    "  update  eggs  Buy eggs (6)",
                    "  delete  milk  Buy milk",
                    "Errors   1",
                    "  update  eggs  The server's version did not match the passed version (code -1303)",
                ])
        }
    }

    @Test func `a fresh device has nothing to show`() async throws {
        try await Bench.run { bench in
            let transcript = Transcript()
            try await bench.app(transcript).status()
            #expect(
                transcript.lines.dropFirst(2) == [
                    "Items    0, 0 done", "Pulled   never", "Queued   0", "Errors   0",
                ])
        }
    }
}
