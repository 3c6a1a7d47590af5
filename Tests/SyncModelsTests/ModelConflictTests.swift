// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncModels
import TableServer
import TestSupport
import Testing

/// Conflicts of models, resolved by rules of the app and by the policies of fields.
@Suite struct ModelConflictTests {
    /// Changes the page `x` on both sides, and returns it as it is on both sides after a push.
    private static func resolve(
        _ settings: SyncSettings, base: [String: ItemValue] = ["title": "base"],
        mine: @escaping @Sendable (inout Page) -> Void, theirs: [String: ItemValue]?
    ) async throws -> (stored: Page?, row: [String: ItemValue]?) {
        var result: (Page?, [String: ItemValue]?)
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            try await server.put("x", base, in: "Page")
            try await table.pull()
            try await table.update("x", mine)
            if let theirs {
                try await server.update("x", theirs, in: "Page")
            } else {
                try await server.remove("x", in: "Page")
            }
            try await context.push()
            let row = try server.row("x", in: "Page")
            result = (try await table.get("x"), row.flatMap { $0.deleted ? nil : $0.fields })
        }
        return result
    }

    @Test func `the policies of fields combine changes of both sides`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Page.self)
        let (stored, row) = try await Self.resolve(
            settings, base: ["title": "base", "views": 10, "readers": ["a", "b"]],
            mine: { page in
                page.views += 1
                page.readers = ["a", "mine"]
                page.body = "mine"
                page.note = "local"
            }, theirs: ["views": 11, "readers": ["a", "b", "theirs"], "title": "theirs"])
        #expect(stored?.views == 12 && row?["views"] == 12)
        #expect(stored?.readers == ["a", "mine", "theirs"])
        #expect(stored?.title == "theirs" && stored?.body == "mine" && stored?.note == "local")
        #expect(row?["body"] == "mine" && row?["note"] == nil)
    }

    /// A newer version of the app has written it.
    @Test func `a policy does not overwrite a value that the property cannot hold`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Page.self, onClash: .serverWins)
        let (_, row) = try await Self.resolve(
            settings, base: ["title": "base", "readers": ["a"]],
            mine: { $0.readers = ["a", "mine"] }, theirs: ["readers": ["a", ["name": "theirs"]]])
        #expect(row?["readers"] == ["a", ["name": "theirs"]])
        let (_, counted) = try await Self.resolve(
            settings, base: ["title": "base", "views": 5], mine: { $0.views = 6 }, theirs: ["views": 12.5])
        #expect(counted?["views"] == 12.5)
    }

    @Test(arguments: [ConflictSide.mine, .theirs])
    func `fields that clash without a policy follow the rule`(_ side: ConflictSide) async throws {
        var settings = SyncSettings()
        settings.resolveByField(Page.self, onClash: side == .mine ? .clientWins : .serverWins)
        let (stored, row) = try await Self.resolve(
            settings,
            mine: { page in
                page.title = "mine"
                page.body = "mine"
            }, theirs: ["title": "theirs", "views": 3])
        let title = side == .mine ? "mine" : "theirs"
        #expect(stored?.title == title && stored?.body == "mine" && stored?.views == 3)
        #expect(row?["title"] == .text(title) && row?["body"] == "mine" && row?["views"] == 3)
    }

    @Test(arguments: [ConflictSide.mine, .theirs])
    func `the latest change wins by the times of the edits`(_ side: ConflictSide) async throws {
        struct Note: SyncModel {
            var id = SyncID<Note>()
            var text = ""
            static let schema = ModelSchema("Note", Note(), .field("text", \.text, merging: .latest))
        }
        var settings = SyncSettings()
        settings.resolveByField(Note.self)
        let resolving = settings
        let seconds: Int64 = side == .mine ? 0 : 4_000_000_000
        let time = try #require(Timestamp(seconds: seconds))
        let configuration = TableServer.Configuration(tables: [.init("Note")], clock: .standing(at: time))
        try await withTableServer(configuration) { server in
            let context = SyncContext(
                client: SyncClient(url: server.url, transport: .patient),
                dataSource: try MemoryStore(tables: .models(Note.self)), settings: resolving)
            let table = context.table(Note.self)
            try await server.put("x", ["text": "base"], in: "Note")
            try await table.pull()
            try await table.update("x") { $0.text = "mine" }
            try await server.update("x", ["text": "theirs"], in: "Note")
            try await context.push()
            let text = try await table.get("x")?.text
            #expect(text == (side == .mine ? "mine" : "theirs"))
            try await context.close()
        }
    }

    @Test func `the rule decides about the whole model if the server has deleted it`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Page.self, onClash: .clientWins)
        let kept = try await Self.resolve(settings, mine: { $0.title = "mine" }, theirs: nil)
        #expect(kept.stored?.title == "mine" && kept.row?["title"] == "mine")
        settings.resolveByField(Page.self)
        let deleted = try await Self.resolve(settings, mine: { $0.title = "mine" }, theirs: nil)
        #expect(deleted.stored == nil && deleted.row == nil)
    }

    @Test func `a rule of the app sees all sides, and its merged model is stored and sent`() async throws {
        var settings = SyncSettings()
        settings.resolve(Page.self) { conflict in
            #expect(conflict.base?.title == "base" && conflict.mine?.title == "mine")
            #expect(conflict.theirs?.title == "theirs" && conflict.theirs?.note == "local")
            #expect(conflict.clashes == [\Page.title])
            guard var merged = conflict.merged() else { return .keepTheirs }
            merged.body = "\(conflict.merged(preferring: .mine)?.title ?? "") and \(merged.title)"
            return .merge(merged)
        }
        let (stored, row) = try await Self.resolve(
            settings,
            mine: { page in
                page.title = "mine"
                page.note = "local"
            }, theirs: ["title": "theirs", "color": "red"])
        #expect(stored?.body == "mine and theirs" && stored?.title == "theirs" && stored?.note == "local")
        #expect(row == ["title": "theirs", "body": "mine and theirs", "color": "red"])
    }

    @Test(arguments: [ConflictSide.mine, .theirs])
    func `a rule of the app can keep one side`(_ side: ConflictSide) async throws {
        var settings = SyncSettings()
        settings.resolve(Page.self) { _ in side == .mine ? .keepMine : .keepTheirs }
        let (stored, row) = try await Self.resolve(
            settings, mine: { $0.title = "mine" }, theirs: ["title": "theirs"])
        #expect(
            stored?.title == (side == .mine ? "mine" : "theirs") && row?["title"] == stored?.title.itemValue)
    }

    @Test func `a merged model keeps stored values that it cannot express`() async throws {
        var settings = SyncSettings()
        settings.resolve(Todo.self) { conflict in
            guard var merged = conflict.merged(), let mine = conflict.mine else { return .keepTheirs }
            merged.complete = merged.complete || mine.complete
            return .merge(merged)
        }
        try await withServer(.models(TodoList.self, Todo.self), settings: settings) { context, server in
            let table = context.table(Todo.self)
            let due = "2024-02-29T23:59:59.1234567Z"
            try await server.put("x", ["text": "one", "due": .text(due)], in: "TodoItem")
            try await table.pull()
            try await table.update("x") { $0.complete = true }
            try await server.update("x", ["text": "two", "priority": "urgent"], in: "TodoItem")
            try await context.push()
            let fields = try server.row("x", in: "TodoItem")?.fields
            #expect(fields == ["text": "two", "due": .text(due), "priority": "urgent", "complete": true])
            #expect(try await table.raw.item(id: "x")?["priority"] == "urgent")
        }
    }

    /// A model that does not have each column of its table.
    private struct Part: SyncModel {
        var id = SyncID<Part>()
        var text = ""
        static let schema = ModelSchema("Part", Part(), .field("text", \.text))
        static let table = SyncTableDefinition(
            "Part", columns: [SyncColumn("text", .text), SyncColumn("note", .text)])
    }

    @Test(arguments: [ConflictSide.mine, .theirs])
    func `a column that the model does not have follows the rule`(_ side: ConflictSide) async throws {
        var settings = SyncSettings()
        settings.resolveByField(Part.self, onClash: side == .mine ? .clientWins : .serverWins)
        try await withServer([Part.table], settings: settings) { context, server in
            try await server.put("x", ["text": "one", "note": "one"], in: "Part")
            try await context.table(Part.self).pull()
            try await context.table("Part").update(id: "x", ["note": "mine"])
            try await server.update("x", ["note": "theirs"], in: "Part")
            try await context.push()
            let note = try server.row("x", in: "Part")?.fields["note"]
            #expect(note == (side == .mine ? "mine" : "theirs"))
        }
    }

    @Test func `a merged model keeps the device's change of a column that it does not have`() async throws {
        var settings = SyncSettings()
        settings.resolve(Part.self) { conflict in
            guard let merged = conflict.merged() else { return .keepTheirs }
            return .merge(merged)
        }
        try await withServer([Part.table], settings: settings) { context, server in
            try await server.put("x", ["text": "one", "note": "one"], in: "Part")
            try await context.table(Part.self).pull()
            try await context.table("Part").update(id: "x", ["note": "mine"])
            try await server.update("x", ["text": "theirs"], in: "Part")
            try await context.push()
            #expect(try server.row("x", in: "Part")?.fields == ["text": "theirs", "note": "mine"])
            #expect(try await context.table("Part").item(id: "x")?["note"] == "mine")
        }
    }

    @Test func `a merged model keeps the digits of a date that the device has changed`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Todo.self)
        try await withServer(.models(TodoList.self, Todo.self), settings: settings) { context, server in
            let table = context.table(Todo.self)
            let due = try #require(Timestamp("2024-02-29T23:59:59.1234567Z"))
            try await server.put("x", ["text": "one"], in: "TodoItem")
            try await table.pull()
            try await table.raw.update(id: "x", ["due": .date(due)])
            try await server.update("x", ["text": "two"], in: "TodoItem")
            try await context.push()
            let fields = try server.row("x", in: "TodoItem")?.fields
            #expect(fields == ["text": "two", "due": .text(due.description)])
        }
    }

    @Test func `an operation stays pending if one side is unreadable`() async throws {
        var settings = SyncSettings()
        settings.resolve(Page.self) { _ in .keepTheirs }
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            try await server.put("x", ["title": "base"], in: "Page")
            try await table.pull()
            try await table.update("x") { $0.title = "mine" }
            try await server.update("x", ["title": nil], in: "Page")
            await #expect(throws: SyncError.self) { try await context.push() }
            let problem = try #require(try await table.problems().first)
            #expect(
                problem.message == """
                    Page.title is .required, and the column 'title' of Page 'x' is null. Correct the row on the server \
                    or with `table.raw`, or remove .required.
                    """)
            #expect(problem.mine?.title == "mine" && problem.theirs == nil)
        }
    }

    @Test func `a conflict is decided although the base lacks a required value`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Page.self)
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            try await server.put("x", ["title": nil], in: "Page")
            try await table.pull()
            try await table.raw.update(id: "x", ["title": "mine", "body": "mine"])
            try await server.update("x", ["title": "theirs"], in: "Page")
            try await context.push()
            #expect(try await table.problems().isEmpty)
            let fields = try server.row("x", in: "Page")?.fields
            #expect(fields?["title"] == "theirs" && fields?["body"] == "mine")
        }
    }

    @Test func `both models of a problem have the local-only values of the device`() async throws {
        try await withServer(.models(Page.self)) { context, server in
            let table = context.table(Page.self)
            try await server.put("x", ["title": "base"], in: "Page")
            try await table.pull()
            try await table.update("x") { page in
                page.title = "mine"
                page.note = "local"
            }
            try await server.update("x", ["title": "theirs"], in: "Page")
            await #expect(throws: SyncError.self) { try await context.push() }
            let problem = try #require(try await table.problems().first)
            #expect(problem.mine?.note == "local")
            #expect(problem.theirs?.title == "theirs" && problem.theirs?.note == "local")
        }
    }

    @Test func `a merged model with another id is refused`() async throws {
        var settings = SyncSettings()
        settings.resolve(Page.self) { _ in .merge(Page(id: "y")) }
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            try await server.put("x", ["title": "base"], in: "Page")
            try await table.pull()
            try await table.update("x") { $0.title = "mine" }
            try await server.update("x", ["title": "theirs"], in: "Page")
            await #expect(throws: SyncError.self) { try await context.push() }
            #expect(
                try await table.problems().map(\.message) == [
                    "The merged Page must have the id 'x', not 'y'."
                ])
        }
    }
}
