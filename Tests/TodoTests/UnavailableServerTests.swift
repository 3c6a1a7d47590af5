// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

@testable import todo

@Suite struct UnavailableServerTests {
    private static func json(_ status: Int, _ error: String) -> ServerFault {
        .answer(
            status: status, headers: ["Content-Type": "application/json"],
            body: Data("{\"error\":\"\(error)\"}".utf8))
    }

    @Test func `503 is not called a refusal, and the message says when to try again`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await app.add("Buy eggs")
            bench.server.onRequest { _ in .answer(status: 503, headers: ["Retry-After": "90"]) }
            let message = await expectFailure(
                of: app, saying: "\(bench.server.url)", "not available", "503", "90 seconds",
                "1 change is queued"
            ) { try await app.sync(onConflict: nil) }
            #expect(!message.contains("refused") && !message.contains("code"))
            await expectFailure(of: app, saying: "not available", "503") {
                try await app.pullShowing()
            }
            bench.server.onRequest(nil)
            try await app.sync(onConflict: nil)
            #expect(try bench.texts() == ["Buy eggs"])
        }
    }

    @Test func `a change that the server did not confirm is not called refused`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await app.add("Buy eggs")
            bench.server.inject(Self.json(500, "Out of order"), when: { $0.method == "POST" })
            let message = await expectFailure(
                of: app, saying: "Buy eggs", "did not confirm", "Out of order"
            ) { try await app.sync(onConflict: nil) }
            #expect(!message.contains("refused"))
        }
    }

    @Test func `a server that does not present a trusted certificate is not called offline`() async throws {
        try await Bench.run { bench in
            let port = try #require(bench.server.url.port)
            let app = try Bench.app(try #require(URL(string: "https://127.0.0.1:\(port)")))
            try await app.add("Buy eggs")
            let message = await expectFailure(of: app, saying: "secure connection", "1 change is queued") {
                try await app.sync(onConflict: nil)
            }
            #expect(!message.contains("offline"))
        }
    }
}
