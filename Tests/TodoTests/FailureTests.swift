// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore
import TableServer
import Testing

@testable import todo

@Suite struct FailureTests {
    @Test func `a server that cannot be reached leaves the queue as it is, and says how long it is`()
        async throws
    {
        let url = try #require(URL(string: "http://127.0.0.1:9"))
        let app = try Bench.app(url)
        try await app.add("Buy milk")
        try await app.add("Buy eggs")
        await expectFailure(of: app, saying: "127.0.0.1:9", "offline", "2 changes are queued") {
            try await app.sync(onConflict: nil)
        }
        await expectFailure(of: app, saying: "cannot be reached") { try await app.pullShowing() }
        #expect(try await app.texts() == ["Buy eggs", "Buy milk"])
    }

    @Test func `a server without the table is told from one that is down`() async throws {
        try await withTableServer(.init(tables: [.init("Other")])) { server in
            let app = try Bench.app(server.url)
            await expectFailure(of: app, saying: "no table 'TodoItem'") { try await app.pullShowing() }
            try await app.add("Buy milk")
            await expectFailure(of: app, saying: "no table 'TodoItem'", "1 change is queued") {
                try await app.sync(onConflict: nil)
            }
        }
    }

    @Test func `a refusal names the item and does not hold up the pull`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await bench.put("milk", "Buy milk")
            try await app.add("Buy eggs")
            bench.server.inject(
                .answer(
                    status: 400, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"error":"No eggs"}"#.utf8)),
                when: { $0.method == "POST" })
            await expectFailure(of: app, saying: "Buy eggs", "No eggs", "-1302") {
                try await app.sync(onConflict: nil)
            }
            #expect(try await app.texts() == ["Buy eggs", "Buy milk"])
            try await app.sync(onConflict: nil)
            #expect(try bench.texts() == ["Buy eggs", "Buy milk"])
        }
    }

    @Test func `a server that asks to sign in is not retried for ever`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await app.add("Buy eggs")
            bench.server.inject(.answer(status: 401))
            await expectFailure(of: app, saying: "sign in", "1 change is queued") {
                try await app.sync(onConflict: nil)
            }
        }
    }

    @Test func `a store that is closed says so`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await app.context.close()
            await expectFailure(of: app, saying: "closed") { try await app.add("Buy eggs") }
        }
    }

    @Test func `a purge that is refused keeps everything`() async throws {
        try await Bench.run { bench in
            let app = try bench.app()
            try await app.add("Buy eggs")
            await expectFailure(of: app, saying: "-1180") { try await app.purge(pending: .refuse) }
            #expect(try await app.texts() == ["Buy eggs"])
            try await app.purge(pending: .discard)
            #expect(try await app.texts() == [])
            #expect(try await app.context.pendingOperationCount() == 0)
        }
    }
}
