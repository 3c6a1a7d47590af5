// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import SyncModels
import TableServer
import Testing

/// Decisions of the app about the problems of a table.
@Suite struct ModelProblemTests {
    /// Runs the body with a conflict: the device and another client have changed the page "x", each another property and the
    /// title.
    private func withConflict(
        _ body: (SyncContext, TableServer, ModelProblem<Page>) async throws -> Void
    ) async throws {
        try await withServer(.models(Page.self)) { context, server in
            let table = context.table(Page.self)
            try await server.put("x", ["title": "base", "body": "base", "views": 1], in: "Page")
            try await table.pull()
            try await table.update("x") { page in
                page.title = "mine"
                page.body = "mine"
                page.note = "local"
            }
            try await server.update("x", ["title": "theirs", "views": 2, "color": "red"], in: "Page")
            await #expect(throws: SyncError.self) { try await context.push() }
            let problem = try #require(try await table.problems().first)
            #expect(problem.isConflict)
            try await body(context, server, problem)
        }
    }

    /// Expects that nothing is pending, and that the page is the same here and on the server, with the local note.
    private func expect(
        title: String, body: String, views: Int, _ context: SyncContext, _ server: TableServer
    ) async throws {
        try await context.push()
        let table = context.table(Page.self)
        #expect(try await table.problems().isEmpty)
        let page = try await table.get("x")
        #expect(page?.title == title && page?.body == body && page?.views == views && page?.note == "local")
        let fields = try server.row("x", in: "Page")?.fields ?? [:]
        #expect(fields["title"] == .text(title) && fields["body"] == .text(body))
        #expect(fields["views"] == .int(Int64(views)) && fields["color"] == "red")
    }

    @Test func `the device's change is kept`() async throws {
        try await withConflict { context, server, problem in
            let table = context.table(Page.self)
            try await table.resolve(problem, .keepMine)
            try await expect(title: "mine", body: "mine", views: 1, context, server)
        }
    }

    @Test func `the server's row is kept`() async throws {
        try await withConflict { context, server, problem in
            let table = context.table(Page.self)
            try await table.resolve(problem, .keepTheirs)
            try await expect(title: "theirs", body: "base", views: 2, context, server)
        }
    }

    @Test func `a model is merged`() async throws {
        try await withConflict { context, server, problem in
            let table = context.table(Page.self)
            var merged = try #require(problem.theirs)
            merged.body = try #require(problem.mine).body
            try await table.resolve(problem, .merge(merged))
            try await expect(title: "theirs", body: "mine", views: 2, context, server)
        }
    }

    @Test func `a problem that stays pending is decided later, and only once`() async throws {
        try await withConflict { context, server, problem in
            let table = context.table(Page.self)
            try await table.resolve(problem, .keepPending)
            #expect(try await table.problems().count == 1)
            try await table.resolve(problem, .keepTheirs)
            let error = await #expect(throws: SyncError.self) {
                try await table.resolve(problem, .keepMine)
            }
            #expect(error?.code == .operationNotFound)
            try await expect(title: "theirs", body: "base", views: 2, context, server)
        }
    }

    @Test func `no decision is made about a model that was changed since`() async throws {
        try await withConflict { context, server, problem in
            let table = context.table(Page.self)
            try await table.update("x") { $0.body = "later" }
            for decision in [ModelDecision.keepMine, .keepTheirs, .merge(try #require(problem.mine))] {
                let error = await #expect(throws: SyncError.self) {
                    try await table.resolve(problem, decision)
                }
                #expect(error?.code == .operationChanged)
            }
            #expect(try await table.get("x")?.body == "later")
        }
    }

    @Test func `a deletion is kept, or becomes an update`() async throws {
        for isKept in [true, false] {
            try await withServer(.models(Page.self)) { context, server in
                let table = context.table(Page.self)
                try await server.put("x", ["title": "base"], in: "Page")
                try await table.pull()
                try await table.delete("x")
                try await server.update("x", ["title": "theirs"], in: "Page")
                await #expect(throws: SyncError.self) { try await context.push() }
                let problem = try #require(try await table.problems().first)
                #expect(problem.mine?.title == "base" && problem.theirs?.title == "theirs")
                var restored = try #require(problem.theirs)
                restored.body = "restored"
                try await table.resolve(problem, isKept ? .keepMine : .merge(restored))
                try await context.push()
                let row = try server.row("x", in: "Page")
                #expect(row?.deleted == isKept)
                if !isKept { #expect(row?.fields["body"] == "restored") }
                #expect(try await table.get("x")?.body == (isKept ? nil : "restored"))
            }
        }
    }

    @Test func `a model that the server has refused is corrected`() async throws {
        try await withServer(.models(Page.self)) { context, server in
            let table = context.table(Page.self)
            try await table.insert(Page(id: "x", title: "too long"))
            server.inject(.answer(status: 400), when: { $0.method == "POST" })
            await #expect(throws: SyncError.self) { try await context.push() }
            let problem = try #require(try await table.problems().first)
            #expect(!problem.isConflict && problem.theirs == nil)
            var corrected = try #require(problem.mine)
            corrected.title = "short"
            try await table.resolve(problem, .merge(corrected))
            try await context.push()
            #expect(try server.row("x", in: "Page")?.fields["title"] == "short")
            #expect(try await table.problems().isEmpty)
        }
    }

    @Test func `a merged model with another id is refused`() async throws {
        try await withConflict { context, _, problem in
            let table = context.table(Page.self)
            let message = await message { try await table.resolve(problem, .merge(Page(id: "y"))) }
            #expect(message == "The merged Page must have the id 'x', not 'y'.")
            let problems = try await table.problems()
            #expect(problems.count == 1)
        }
    }
}
