// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct FailureTests {
    @Test func `with an unreachable server the queue stays, and the message has its length`()
        async throws
    {
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let app = try TodoFixture.app(url)
        try await app.add("Buy milk")
        try await app.add("Buy eggs")
        await expectFailure(of: app, containing: "127.0.0.1:9", "offline", "2 changes are queued") {
            try await app.sync(onConflict: nil)
        }
        await expectFailure(of: app, containing: "cannot be reached") { try await app.pullWithProgress() }
        #expect(try await app.texts() == ["Buy eggs", "Buy milk"])
    }

    @Test func `a server without the table is not reported as unreachable`() async throws {
        try await withTableServer(.init(tables: [.init("Other")])) { server in
            let transcript = Transcript()
            let app = try TodoFixture.app(server.url, transcript)
            await expectFailure(of: app, containing: "no table 'TodoItem'") {
                try await app.pullWithProgress()
            }
            try await app.add("Buy milk")
            await expectFailure(of: app, containing: "no table 'TodoItem'", "1 change is queued") {
                try await app.sync(onConflict: nil)
            }
            #expect(try await app.context.operationErrors().count == 1)
            try await app.listConflicts()
            #expect(transcript.lines.last == "There are no conflicts.")
        }
    }

    @Test func `the message of a refusal names the item, and the pull continues`() async throws {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await fixture.put("milk", "Buy milk")
            try await app.add("Buy eggs")
            fixture.server.inject(
                .answer(
                    status: 400, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"error":"No eggs"}"#.utf8)),
                when: { $0.method == "POST" })
            await expectFailure(of: app, containing: "Buy eggs", "No eggs", "-1302") {
                try await app.sync(onConflict: nil)
            }
            #expect(try await app.texts() == ["Buy eggs", "Buy milk"])
            try await app.sync(onConflict: nil)
            #expect(try fixture.texts() == ["Buy eggs", "Buy milk"])
        }
    }

    @Test func `a server that requires users to sign in is reported`() async throws {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await app.add("Buy eggs")
            fixture.server.inject(.answer(status: 401))
            await expectFailure(of: app, containing: "sign in", "1 change is queued") {
                try await app.sync(onConflict: nil)
            }
        }
    }

    @Test func `a closed store is reported`() async throws {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await app.context.close()
            await expectFailure(of: app, containing: "closed") { try await app.add("Buy eggs") }
        }
    }

    @Test func `a refused purge removes nothing`() async throws {
        try await TodoFixture.run { fixture in
            let app = try fixture.app()
            try await app.add("Buy eggs")
            await expectFailure(of: app, containing: "-1180") { try await app.purge(pending: .refuse) }
            #expect(try await app.texts() == ["Buy eggs"])
            try await app.purge(pending: .discard)
            #expect(try await app.texts() == [])
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }
}
