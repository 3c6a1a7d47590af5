// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct UnavailableServerTests {
    private static func jsonError(_ status: Int, _ error: String) -> ServerFault {
        .answer(
            status: status, headers: ["Content-Type": "application/json"],
            body: Data("{\"error\":\"\(error)\"}".utf8))
    }

    @Test func `status 503 is not reported as a refusal, and the message says when to try again`()
        async throws
    {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await app.add("Buy eggs")
            fixture.server.onRequest { _ in .answer(status: 503, headers: ["Retry-After": "90"]) }
            let message = await expectFailure(
                of: app, containing: "\(fixture.server.url)", "not available", "503", "90 seconds",
                "1 change is queued"
            ) { try await app.sync(onConflict: nil) }
            #expect(!message.contains("refused") && !message.contains("code"))
            await expectFailure(of: app, containing: "not available", "503") {
                try await app.pullWithProgress()
            }
            fixture.server.onRequest(nil)
            try await app.sync(onConflict: nil)
            #expect(try fixture.texts() == ["Buy eggs"])
        }
    }

    @Test func `a change that the server did not confirm is not reported as refused`() async throws {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await app.add("Buy eggs")
            fixture.server.inject(Self.jsonError(500, "Out of order"), when: { $0.method == "POST" })
            let message = await expectFailure(
                of: app, containing: "Buy eggs", "did not confirm", "Out of order"
            ) { try await app.sync(onConflict: nil) }
            #expect(!message.contains("refused"))
        }
    }

    @Test(arguments: [500, 200])
    func `only a change that the server has refused waits for a decision`(status: Int) async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            try await app.add("Buy eggs")
            fixture.server.onRequest { $0.method == "POST" ? Self.jsonError(status, "No") : .none }
            try? await app.push(onConflict: nil)
            #expect(try await app.context.operationErrors().count == 1)
            try await app.listConflicts()
            #expect(transcript.lines.last == "There are no conflicts.")
            try await app.list(TodoItem.all.raw)
            #expect(transcript.text.contains(" * [ ] Buy eggs"), "\(transcript.text)")
            fixture.server.onRequest { $0.method == "POST" ? Self.jsonError(400, "No") : .none }
            try? await app.push(onConflict: nil)
            try await app.list(TodoItem.all.raw)
            #expect(transcript.text.contains(" ! [ ] Buy eggs"), "\(transcript.text)")
        }
    }

    @Test func `a server without a trusted certificate is not reported as offline`() async throws {
        try await TodoFixture.run { fixture in
            let port = try #require(fixture.server.url.port)
            let app = try TodoFixture.app(try #require(URL(string: "https://127.0.0.1:\(port)")))
            try await app.add("Buy eggs")
            let message = await expectFailure(of: app, containing: "secure connection", "1 change is queued")
            {
                try await app.sync(onConflict: nil)
            }
            #expect(!message.contains("offline"))
        }
    }
}
