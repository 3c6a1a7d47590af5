// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import StoreSQLite
import SyncModels
import TableServer
import Testing

/// The samples of the article "Typed models".
struct TypedModelsSamples {
    enum Priority: String, FieldValue { case low, normal, high }

    struct TodoList: SyncModel {
        var id = SyncID<TodoList>(), name = ""
        static let schema = ModelSchema("TodoList", TodoList(), .field("name", \.name))
    }

    struct Todo: SyncModel {
        var id = SyncID<Todo>()
        var text = "", complete = false, priority = Priority.normal, due: Date?
        var list: SyncID<TodoList>?
        var taps = 0, tags: [String] = []
        static let schema = ModelSchema(
            "TodoItem", Todo(), .field("text", \.text), .field("complete", \.complete, .indexed),
            .field("priority", \.priority), .field("due", \.due), .field("listId", \.list, .indexed),
            .field("taps", \.taps, merging: .counter), .json("tags", \.tags, merging: .union))
    }

    struct Page: SyncModel {
        var id = SyncID<Page>(), views: Int?
        static let schema = ModelSchema(
            "Page", Page(),
            .field(
                "views", \.views,
                merging: MergePolicy<Int?> { base, mine, theirs in
                    guard let mine, let theirs else { return mine ?? theirs }
                    return theirs &+ mine &- ((base ?? nil) ?? 0)
                }))
    }

    @Test func `models in a store and on a server`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let (path, tomorrow) = (directory.appending(path: "todo.sqlite").path(), Date() + 86_400)
        try await withTableServer(.init(tables: [.init("TodoItem"), .init("TodoList")])) { server in
            let url = server.url

            let store = try SQLiteStore(path: path, tables: .models(TodoList.self, Todo.self))
            let context = SyncContext(client: SyncClient(url: url), dataSource: store)
            try await context.table(Todo.self).insert(Todo(text: "Buy milk"))
            try await context.sync(TodoList.all.pull(), Todo.all.pull())

            #expect(try server.rows(in: "TodoItem").map { $0.fields["text"] } == ["Buy milk"])

            let todos = context.table(Todo.self)
            let milk = try await todos.insert(Todo(text: "Buy milk"))
            try await todos.update(milk.id) { $0.complete = true }

            var edited = milk
            edited.text = "Buy oat milk"
            try await todos.save(edited, from: milk)

            try await context.batch { local in
                let list = try local.insert(TodoList(name: "Garden"))
                try local.insert(Todo(text: "Plant a tree", list: list.id))
                try local.delete(milk.id)
            }

            try await todos.insert(Todo(text: "Buy eggs", due: tomorrow - 3600))

            let open = Todo.where { !$0.complete && $0.text.contains("eggs") && $0.due < tomorrow }
            let page = try await todos.page(open.order(by: \.text).limit(20).includingTotalCount())
            print("\(page.models.count) of \(page.totalCount ?? 0)")

            let (all, lists) = try await context.read { (try $0.fetch(Todo.all), try $0.fetch(TodoList.all)) }

            let following = Task { @MainActor in
                for try await page in todos.live(open).withSyncStates() {
                    for todo in page { print(todo.text, page.syncState(of: todo.id)) }
                }
                for try await count in context.live({ reader in try reader.count(open) }) { print(count) }
                let list = LiveList(Todo.where { !$0.complete }.order(by: \.text), in: context)
                _ = list
            }
            following.cancel()

            #expect(page.models.map(\.text) == ["Buy eggs"] && page.totalCount == 1)
            #expect(Set(all.map(\.text)) == ["Buy milk", "Plant a tree", "Buy eggs"])
            #expect(lists.map(\.name) == ["Garden"])
            try await context.close()
        }
    }

    @Test func `rules for conflicts of models`() {
        var settings = SyncSettings()

        settings.resolveByField(TodoList.self, onClash: .clientWins)
        settings.resolve(Todo.self) { conflict in
            guard var merged = conflict.merged(), let mine = conflict.mine else { return .keepTheirs }
            merged.complete = merged.complete || mine.complete
            return .merge(merged)
        }

        #expect(Set(settings.resolvers.keys) == ["TodoItem", "TodoList"])
    }

    @Test func `a counter in an optional number`() async throws {
        try await withTableServer(.init(tables: [.init("Page")])) { server in
            var settings = SyncSettings()
            settings.resolveByField(Page.self)
            let context = SyncContext(
                client: SyncClient(url: server.url), dataSource: try MemoryStore(tables: .models(Page.self)),
                settings: settings)
            try await context.table(Page.self).insert(Page(id: "1", views: 5))
            try await context.push()
            try await context.table(Page.self).update("1") { $0.views = 6 }
            try await server.update("1", ["views": 7], in: "Page")
            try await context.push()
            #expect(try server.row("1", in: "Page")?.fields["views"] == 8)
            try await context.close()
        }
    }

    @Test func `a decision of the user about a problem`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let store = try MemoryStore(tables: .models(TodoList.self, Todo.self))
            let context = SyncContext(client: SyncClient(url: server.url), dataSource: store)
            let todos = context.table(Todo.self)
            try await todos.insert(Todo(id: "1", text: "Buy milk"))
            try await context.push()
            try await todos.update("1") { $0.complete = true }
            try await server.update("1", ["text": "Buy eggs"], in: "TodoItem")
            await #expect(throws: SyncError.self) { try await context.push() }

            for problem in try await todos.problems() where problem.isConflict && problem.kind != .delete {
                guard var merged = problem.theirs, let mine = problem.mine else { continue }
                merged.complete = mine.complete
                try await todos.resolve(problem, .merge(merged))
            }

            try await context.push()
            #expect(try server.row("1", in: "TodoItem")?.fields["text"] == "Buy eggs")
            #expect(try server.row("1", in: "TodoItem")?.fields["complete"] == true)
            try await context.close()
        }
    }
}
