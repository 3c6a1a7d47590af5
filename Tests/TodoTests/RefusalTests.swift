// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

@testable import todo

/// Changes that the server refuses for another reason than a conflict.
@Suite struct RefusalTests {
    /// Makes the server refuse the next request of the method, and syncs.
    private func syncRefused(_ method: String, _ app: TodoApp, _ fixture: TodoFixture) async throws {
        fixture.server.inject(
            .answer(
                status: 400, headers: ["Content-Type": "application/json"],
                body: Data(#"{"error":"No eggs"}"#.utf8)),
            when: { $0.method == method })
        await expectFailure(of: app, containing: "No eggs", "-1302") { try await app.sync(onConflict: nil) }
        try await app.listConflicts()
    }

    @Test func `the server's item is unknown after a refused insert, and discarding it removes the item`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await app.table.raw.insert(["id": "eggs", "text": "Buy eggs", "complete": false])
            try await syncRefused("POST", app, fixture)
            #expect(transcript.text.contains("(unknown)"), "\(transcript.text)")
            #expect(!transcript.text.contains("(deleted)"))
            try await app.resolve("eggs", by: .server)
            #expect(transcript.lines.last == "The item was removed.")
            #expect(try await app.texts() == [])
        }
    }

    @Test func `the server's item is unknown after a refused update, and discarding it restores the item`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await fixture.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await syncRefused("PATCH", app, fixture)
            #expect(transcript.text.contains("(unknown)"), "\(transcript.text)")
            #expect(!transcript.text.contains("(no such row)"))
            try await app.resolve("eggs", by: .server)
            #expect(transcript.lines.last == "The item now has the server's value.")
            #expect(try await app.texts() == ["Buy eggs"])
        }
    }

    @Test func `discarding a change of a row that was deleted on the server removes the item`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript, isInteractive: false)
            try await fixture.put("eggs", "Buy eggs")
            try await app.sync(onConflict: nil)
            try await app.edit("eggs", text: "Buy eggs (6)")
            try await fixture.remove("eggs")
            await #expect(throws: (any Error).self) { try await app.sync(onConflict: nil) }
            try await app.resolve("eggs", by: .server)
            #expect(transcript.lines.last == "The item was removed.")
            #expect(try await app.texts() == [])
        }
    }
}
