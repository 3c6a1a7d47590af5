// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

@testable import todo

@Suite struct LookupTests {
    private func app() async throws -> TodoApp {
        let url = try #require(ServerURL.local?.url)
        let app = try Bench.app(url)
        for id in ["milk", "milkshake", "eggs", "caf\u{E9}"] {
            try await app.table.insert(["id": .text(id), "text": .text("Buy \(id)"), "complete": false])
        }
        return app
    }

    @Test func `the beginning of an id is enough`() async throws {
        let app = try await app()
        #expect(try await app.item("e").id == "eggs")
        #expect(try await app.item("milks").id == "milkshake")
    }

    @Test func `a whole id is meant even if others begin with it`() async throws {
        #expect(try await app().item("milk").id == "milk")
    }

    @Test func `an ambiguous beginning is refused with the candidates`() async throws {
        let app = try await app()
        let message = await expectFailure(of: app, saying: "'mil'", "Buy milk", "Buy milkshake") {
            _ = try await app.item("mil")
        }
        #expect(!message.contains("eggs"))
    }

    @Test(arguments: ["bread", "", "cafe\u{301}", "MILK"])
    func `an id that nothing begins with is refused`(id: String) async throws {
        let app = try await app()
        await expectFailure(of: app, saying: "'\(id)'") { _ = try await app.item(id) }
    }

    @Test func `short ids tell all ids apart, and are no shorter than eight characters`() {
        let ids = ShortIDs(["0199a3c2-1f3b-a", "0199a3c2-1f4b-b", "0299a3c2-1f3b-c"])
        #expect(ids.short("0199a3c2-1f3b-a") == "0199a3c2-1f3")
        #expect(ids.short("0299a3c2-1f3b-c") == "0299a3c2-1f3")
        #expect(ShortIDs([]).short("0199a3c2-1f3b-a") == "0199a3c2")
        #expect(ShortIDs(["milk", "milkshake"]).short("milkshake") == "milkshak")
        #expect(ShortIDs(["a", "a"]).short("abc") == "abc")
    }
}
