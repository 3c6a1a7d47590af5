// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
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
