// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import SyncModels
import TableServer
import TestSupport
import Testing

/// A form saves a copy that is older than the stored row more than once, or beside other changes of the row. Conflicts are
/// merged with what the copy had.
@Suite struct StaleCopyTests {
    /// Runs the body with a row `A, 10` that the form has read, and `B, 15` that a pull has stored since.
    private func run(
        _ body: (ModelTable<Page>, _ original: Page, SyncContext, TableServer) async throws -> Void
    ) async throws {
        var settings = SyncSettings()
        settings.resolveByField(Page.self)
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            try await server.put("x", ["title": "A", "views": 10, "body": "text"], in: "Page")
            try await table.pull()
            let original = try #require(try await table.get("x"))
            try await server.update("x", ["title": "B", "views": 15], in: "Page")
            try await table.pull()
            try await body(table, original, context, server)
            try await context.push()
            let fields = try server.row("x", in: "Page")?.fields
            #expect(fields?["title"] == "B" && fields?["views"] == 16)
            #expect(fields?["body"] == "mine")
            #expect(try await table.get("x")?.views == 16)
        }
    }

    @Test func `a copy that is saved twice`() async throws {
        try await run { table, original, _, _ in
            var edited = original
            edited.body = "mine"
            try await table.save(edited, from: original)
            edited.title = "C"
            edited.views = 11
            try await table.save(edited, from: original)
        }
    }

    @Test func `a copy that is saved after a change of the row`() async throws {
        try await run { table, original, _, _ in
            try await table.update("x") { $0.body = "mine" }
            var edited = original
            edited.title = "C"
            edited.views = 11
            try await table.save(edited, from: original)
        }
    }

    @Test(arguments: [false, true])
    func `a copy that is saved while a change of the row is sent`(_ isRefused: Bool) async throws {
        try await run { table, original, context, server in
            try await table.update("x") { $0.body = "mine" }
            let gate = RequestGate()
            let fault =
                isRefused
                ? ServerFault.answer(
                    status: 400, headers: ["Content-Type": "application/json"], body: Data("{}".utf8)) : .none
            server.inject(.hold(gate, then: fault), when: { $0.method != "GET" })
            let push = Task { try await context.push() }
            await gate.waitForArrivals()
            var edited = original
            edited.title = "C"
            edited.views = 11
            try await table.save(edited, from: original)
            gate.open()
            _ = await push.result
        }
    }
}
