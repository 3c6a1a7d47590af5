// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncModels
import TableServer
import TestSupport
import Testing

/// Counters of several devices: each tap counts once.
@Suite struct CounterConflictTests {
    private static func settings(attempts: Int = 1) -> SyncSettings {
        var settings = SyncSettings()
        settings.retry.maxAttempts = attempts
        settings.resolveByField(Page.self)
        return settings
    }

    private static var pullAnyway: PullSettings {
        var settings = PullSettings()
        settings.pending = .pullAnyway
        return settings
    }

    /// Runs the body with the page `x`, which has been seen 5 times.
    private static func withPage(
        settings: SyncSettings = settings(),
        _ body: (ModelTable<Page>, SyncContext, TableServer) async throws -> Void
    ) async throws {
        try await withServer(.models(Page.self), settings: settings) { context, server in
            try await server.put("x", ["title": "A", "views": 5], in: "Page")
            try await context.table(Page.self).pull()
            try await body(context.table(Page.self), context, server)
        }
    }

    private static func expectViews(_ views: Int, _ table: ModelTable<Page>, _ server: TableServer)
        async throws
    {
        #expect(try await table.get("x")?.views == views)
        #expect(try server.row("x", in: "Page")?.fields["views"]?.intValue == Int64(views))
    }

    @Test(arguments: [true, false])
    func `the same count on two devices counts twice, found by a push or by a pull`(_ byPull: Bool)
        async throws
    {
        try await Self.withPage { table, context, server in
            try await table.update("x") { $0.views += 1 }
            try await server.update("x", ["views": 6], in: "Page")
            if byPull { try await context.pull(TableQuery("Page"), settings: Self.pullAnyway) }
            try await context.push()
            try await Self.expectViews(7, table, server)
        }
    }

    private struct Poll: SyncModel {
        var id = SyncID<Poll>(), votes: Int?
        static let schema = ModelSchema("Poll", Poll(), .field("votes", \.votes, merging: .counter))
    }

    @Test func `the first votes of two devices count twice in an optional number`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Poll.self)
        try await withServer(.models(Poll.self), settings: settings) { context, server in
            let polls = context.table(Poll.self)
            try await server.put("x", ["votes": .null], in: "Poll")
            try await polls.pull()
            try await polls.update("x") { $0.votes = ($0.votes ?? 0) + 1 }
            try await server.update("x", ["votes": 1], in: "Poll")
            try await context.push()
            #expect(try await polls.get("x")?.votes == 2)
            #expect(try server.row("x", in: "Poll")?.fields["votes"]?.intValue == Int64(2))
        }
    }

    @Test(arguments: [1, 2])
    func `counts that two devices insert with the same id are added`(_ other: Int64) async throws {
        try await withServer(.models(Page.self), settings: Self.settings()) { context, server in
            let table = context.table(Page.self)
            try await table.insert(Page(id: "x", views: 2))
            try await server.put("x", ["title": "untitled", "views": .int(other)], in: "Page")
            try await context.push()
            try await Self.expectViews(2 + Int(other), table, server)
        }
    }

    @Test func `the same count on two devices counts twice, also by the app's own rule`() async throws {
        var settings = SyncSettings()
        settings.resolve(Page.self) { conflict in
            conflict.merged().map { .merge($0) } ?? .keepPending
        }
        settings.resolvers["Page"] = settings.resolvers["Page"].map {
            .deleteWins(otherwise: .updateWins(otherwise: $0))
        }
        try await Self.withPage(settings: settings) { table, context, server in
            try await table.update("x") { $0.views += 1 }
            try await server.update("x", ["views": 6], in: "Page")
            try await context.push()
            try await Self.expectViews(7, table, server)
        }
    }

    @Test(arguments: [false, true])
    func `a count whose response was lost counts once`(_ isChangedByOther: Bool) async throws {
        try await Self.withPage { table, context, server in
            try await table.update("x") { $0.views += 1 }
            server.inject(.dropAnswer, when: { $0.method == "PATCH" })
            _ = try? await context.push()
            if isChangedByOther { try await server.update("x", ["title": "B"], in: "Page") }
            try await context.push()
            try await Self.expectViews(6, table, server)
        }
    }

    @Test func `the same count on two devices counts twice after a lost response to another change`()
        async throws
    {
        try await Self.withPage { table, context, server in
            try await table.update("x") { $0.title = "B" }
            server.inject(.dropAnswer, when: { $0.method == "PATCH" })
            _ = try? await context.push()
            try await table.update("x") { $0.views += 1 }
            try await server.update("x", ["views": 6], in: "Page")
            try await context.push()
            try await Self.expectViews(7, table, server)
        }
    }

    @Test func `an inserted count whose response was lost counts once beside another device's`() async throws
    {
        try await withServer(.models(Page.self), settings: Self.settings()) { context, server in
            let table = context.table(Page.self)
            try await table.insert(Page(id: "x", views: 3))
            server.inject(.dropAnswer, when: { $0.method == "POST" })
            _ = try? await context.push()
            try await server.update("x", ["views": 4], in: "Page")
            try await context.push()
            try await Self.expectViews(4, table, server)
        }
    }

    @Test func `a count that nobody has changed stays when the app has changed its database itself`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            try await withTableServer(.init(tables: [.init("Page")])) { server in
                let database = try DatabasePool(path: directory.appendingPathComponent("app.sqlite").path)
                let store = try SQLiteStore(database: database, tables: .models(Page.self))
                let context = SyncContext(
                    client: SyncClient(url: server.url, transport: .patient), dataSource: store,
                    settings: Self.settings())
                let table = context.table(Page.self)
                try await server.put("x", ["title": "A", "views": 5], in: "Page")
                try await table.pull()
                try await database.write { database in
                    try database.execute(sql: "UPDATE Page SET title = 'mine' WHERE id = 'x'")
                    try store.enqueueExternalChanges(in: "Page", changed: ["x"], on: database)
                }
                try await server.update("x", ["body": "theirs"], in: "Page")
                try await context.push()
                try await Self.expectViews(5, table, server)
                try await context.close()
            }
        }
    }
}
