// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import TableServer
import Testing

@testable import todo

@Suite struct LookupTests {
    private func app() async throws -> TodoApp {
        let url = try #require(ServerURL.local?.url)
        let app = try TodoFixture.app(url)
        for id in ["milk", "milkshake", "eggs", "caf\u{E9}"] {
            try await app.table.raw.insert(["id": .text(id), "text": .text("Buy \(id)"), "complete": false])
        }
        return app
    }

    @Test func `the beginning of an id finds the item`() async throws {
        let app = try await app()
        #expect(try await app.item("e").id == "eggs")
        #expect(try await app.item("milks").id == "milkshake")
    }

    @Test func `a whole id finds its item, also when other ids begin with it`() async throws {
        #expect(try await app().item("milk").id == "milk")
    }

    @Test func `an ambiguous beginning is an error that lists the candidates`() async throws {
        let app = try await app()
        let message = await expectFailure(of: app, containing: "'mil'", "Buy milk", "Buy milkshake") {
            _ = try await app.item("mil")
        }
        #expect(!message.contains("eggs"))
    }

    @Test func `a whole id is that of its item, also when only another item has a conflict`() async throws {
        try await TodoFixture.run { fixture in
            let app = try TodoFixture.app(fixture.server.url)
            for id in ["milk", "milkshake"] {
                try await app.table.raw.insert(["id": .text(id), "text": .text(id), "complete": false])
            }
            let conflict = ServerFault.answer(
                status: 409, headers: ["Content-Type": "application/json"], body: Data("{}".utf8))
            fixture.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("shake") ? conflict : .none
            }
            _ = try? await app.context.push()
            #expect(try await app.operationError("milks").itemID == "milkshake")
            await expectFailure(of: app, containing: "no conflict") {
                _ = try await app.operationError("milk")
            }
            await expectFailure(of: app, containing: "'mil'") { _ = try await app.operationError("mil") }
        }
    }

    @Test func `the id that the list of conflicts shows is enough to resolve one`() async throws {
        try await TodoFixture.run { fixture in
            let transcript = Transcript()
            let app = try fixture.app(transcript)
            for id in ["12345678-a", "12345678-b"] { try await fixture.put(id, id) }
            try await app.sync(onConflict: nil)
            try await app.edit("12345678-a", text: "client")
            try await fixture.put("12345678-a", "server")
            try? await app.sync(onConflict: .cancel)
            let lineCount = transcript.lines.count
            try await app.listConflicts()
            let title = try #require(transcript.lines.dropFirst(lineCount).first)
            let id = try #require(title.split(separator: " ").last.map(String.init))
            #expect(try await app.operationError(id).itemID == "12345678-a")
        }
    }

    @Test(arguments: ["bread", "", "cafe\u{301}", "MILK"])
    func `a beginning that no id has is an error`(id: String) async throws {
        let app = try await app()
        await expectFailure(of: app, containing: "'\(id)'") { _ = try await app.item(id) }
    }

    @Test func `short ids are unique, and have at least eight characters`() {
        let ids = ShortIDs(["0199a3c2-1f3b-a", "0199a3c2-1f4b-b", "0299a3c2-1f3b-c"])
        #expect(ids.short("0199a3c2-1f3b-a") == "0199a3c2-1f3")
        #expect(ids.short("0299a3c2-1f3b-c") == "0299a3c2-1f3")
        #expect(ShortIDs([]).short("0199a3c2-1f3b-a") == "0199a3c2")
        #expect(ShortIDs(["milk", "milkshake"]).short("milkshake") == "milkshak")
        #expect(ShortIDs(["a", "a"]).short("abc") == "abc")
    }
}
