// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncModels
import Synchronization
import TableServer
import TestSupport
import Testing

/// Values that a model cannot express, and what becomes of them.
@Suite struct ModelCaseTests {
    @Test(arguments: StoreKind.allCases)
    func `null and missing columns are blank values`(_ kind: StoreKind) async throws {
        try await withContext(on: kind, .models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            try await table.raw.insert(["id": "missing"])
            try await table.raw.insert(["id": "null", "text": nil, "complete": nil, "due": nil, "tags": nil])
            #expect(try await table.fetch() == [Todo(id: "missing"), Todo(id: "null")])
        }
    }

    @Test func `a null column of an optional property is nil, also if the blank value is not`() async throws {
        struct Box: SyncModel {
            var id = SyncID<Box>()
            var size: Double? = 1
            var label: [String]? = ["new"]
            static let schema = ModelSchema("Box", Box(), .field("size", \.size), .json("label", \.label))
        }
        try await withContext(.models(Box.self)) { context in
            let table = context.table(Box.self)
            try await table.raw.insert(["id": "x", "size": nil])
            let box = try await table.get("x")
            #expect(box?.size == .some(nil) && box?.label == .some(nil))
            #expect(try await table.insert(Box(id: "y")).size == 1)
        }
    }

    @Test func `an unknown enum case is the blank value, and stays stored through updates`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            try await table.raw.insert(["id": "x", "priority": "urgent", "tags": ["not", "strings", 1]])
            let todo = try await table.update("x") { $0.text = "edited" }
            #expect(todo.priority == .normal && todo.tags == [])
            var edited = todo
            edited.complete = true
            try await table.save(edited, from: todo)
            let item = try #require(try await table.raw.item(id: "x"))
            #expect(item["priority"] == "urgent" && item["tags"] == ["not", "strings", 1])
            #expect(item["text"] == "edited" && item["complete"] == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row without a required value is left out, listed and logged once`(_ kind: StoreKind) async throws
    {
        let reported = Mutex<[String]>([])
        var settings = SyncSettings()
        settings.onEvent = { event in
            if case .rowUnreadable(let table) = event { reported.withLock { $0.append(table) } }
        }
        try await withContext(on: kind, .models(Page.self), settings: settings) { context in
            let table = context.table(Page.self)
            try await table.raw.insert(["id": "good", "title": "A"])
            try await table.raw.insert(["id": "bad", "body": "text"])
            #expect(try await table.fetch().map(\.id) == ["good"])
            let page = try await table.page()
            let reason = """
                Page.title is .required, and the column 'title' of Page 'bad' is null. Correct the row on the \
                server or with `table.raw`, or remove .required.
                """
            #expect(
                page.unreadable
                    == [UnreadableRow(table: "Page", id: "bad", column: "title", reason: reason)])
            #expect(reported.withLock { $0 } == ["Page"])
            #expect(await message { try await table.get("bad") } == reason)
            #expect(await message { try await table.update("bad") { $0.body = "" } } == reason)
        }
    }

    @Test func `a filter names a property of a part`() async throws {
        struct Address: Sendable { var city = "" }
        struct Contact: SyncModel {
            var id = SyncID<Contact>()
            var home = Address()
            static let schema = ModelSchema("Contact", Contact(), .field("city", \.home.city))
        }
        try await withContext(.models(Contact.self)) { context in
            let table = context.table(Contact.self)
            for city in ["Bergen", "Oslo"] { try await table.insert(Contact(home: Address(city: city))) }
            let found = try await table.fetch(Contact.where { $0(\.home.city) == "Oslo" })
            #expect(found.map(\.home.city) == ["Oslo"])
        }
    }

    @Test func `dates keep the digits of the server when other fields change`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let time = try #require(Timestamp("2024-02-29T23:59:59.1234567Z"))
            let table = context.table(Todo.self)
            try await table.raw.insert(["id": "x", "due": .date(time)])
            let todo = try await table.update("x") { $0.text = "edited" }
            #expect(todo.due == time.date)
            #expect(try await table.raw.item(id: "x")?["due"] == .date(time))
            try await table.update("x") { $0.due = $0.due?.addingTimeInterval(1) }
            #expect(
                try await table.raw.item(id: "x")?["due"]?.dateValue?.description
                    == "2024-03-01T00:00:00.123Z")
        }
    }

    @Test func `a timestamp keeps all digits`() async throws {
        try await withContext(.models(Page.self)) { context in
            let time = try #require(Timestamp("2024-02-29T23:59:59.123456789Z"))
            let page = try await context.table(Page.self).insert(Page(changed: time))
            #expect(page.changed == time)
            #expect(page.changed?.description == "2024-02-29T23:59:59.123456789Z")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the record of values that the app has removed from its table is no undeclared column`(
        _ kind: StoreKind
    ) async throws {
        try await withTemporaryDirectory { directory in
            let store = try kind.open(in: directory, tables: .models(Page.self))
            let system = SystemProperties(
                version: "1", undeclared: ["color": "red", "$lost": ["title": nil]])
            try store.write {
                try $0.upsert([Item(id: "x", fields: ["title": "A"], system: system)], in: "Page")
            }
            let url = try #require(URL(string: "http://127.0.0.1:9"))
            let context = SyncContext(client: SyncClient(url: url), dataSource: store)
            #expect(try await context.table(Page.self).get("x")?.more == ["color": "red"])
            try await context.close()
        }
    }

    @Test func `system properties and undeclared columns of the server are shown`() async throws {
        try await withServer(.models(Page.self)) { context, server in
            try await server.put("x", ["title": "A", "color": "red"], in: "Page")
            try await context.sync(Page.all.pull())
            let table = context.table(Page.self)
            let page = try await table.update("x") { $0.body = "text" }
            #expect(page.more == ["color": "red"])
            let version = try server.row("x", in: "Page")?.version
            #expect(page.sync.version == version)
            try await context.push()
            #expect(try server.row("x", in: "Page")?.fields["color"] == "red")
        }
    }

    @Test func `a column of a later version has the blank value in old rows`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("store.sqlite").path
            let old = SyncTableDefinition("Page", columns: [SyncColumn("title", .text)])
            let url = try #require(URL(string: "http://127.0.0.1:9"))
            let first = SyncContext(
                client: SyncClient(url: url), dataSource: try SQLiteStore(path: path, tables: [old]))
            try await first.table("Page").insert(["id": "x", "title": "A"])
            try await first.close()
            let store = try SQLiteStore(path: path, tables: .models(Page.self))
            let second = SyncContext(client: SyncClient(url: url), dataSource: store)
            #expect(try await second.table(Page.self).fetch() == [Page(id: "x", title: "A")])
            try await second.close()
        }
    }

    @Test
    func `models that properties refer to are parents, except for unordered fields and the model itself`() {
        struct Comment: SyncModel {
            var id = SyncID<Comment>()
            var todo: SyncID<Todo> = ""
            var list: SyncID<TodoList>?
            var replyTo: SyncID<Comment>?
            static let schema = ModelSchema(
                "Comment", Comment(), .field("todo", \.todo), .field("list", \.list, .unordered),
                .field("replyTo", \.replyTo))
        }
        #expect(Todo.schema.definition.parents == ["TodoList"])
        #expect(Comment.schema.definition.parents == ["TodoItem"])
    }

    @Test func `a definition has the columns, types and options of the fields`() {
        let columns = [
            SyncColumn("title", .text), SyncColumn("views", .integer), SyncColumn("readers", .json),
            SyncColumn("note", .text, isLocalOnly: true), SyncColumn("body", .text),
            SyncColumn("changed", .date),
        ]
        #expect(Page.schema.definition == SyncTableDefinition("Page", columns: columns))
        #expect(Todo.schema.definition.column(named: "complete")?.isIndexed == true)
    }

    @Test func `a save writes the difference onto the row as it is now`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            let original = try await table.insert(Todo(text: "one"))
            try await table.update(original.id) { $0.complete = true }
            var edited = original
            edited.text = "two"
            let saved = try await table.save(edited, from: original)
            #expect(saved.text == "two" && saved.complete)
            #expect(try await table.get(original.id) == saved)
        }
    }

    @Test func `a save of a stale copy with system properties is a conflict`() async throws {
        try await withServer(.models(Page.self)) { context, server in
            let table = context.table(Page.self)
            let original = try await staleCopy(
                of: ["title": "A"], changed: ["body": "theirs"], in: table, server)
            var edited = original
            edited.title = "mine"
            try await table.save(edited, from: original)
            await #expect(throws: SyncError.self) { try await context.push() }
            let problems = try await table.problems()
            #expect(problems.map(\.isConflict) == [true] && problems.map(\.modelID) == ["x"])
            #expect(problems.first?.mine?.title == "mine" && problems.first?.theirs?.body == "theirs")
        }
    }

    /// The base of the conflict is the copy that the user has edited, not the row that a pull has stored since.
    @Test func `a save of a stale copy merges with what the copy had`() async throws {
        var settings = SyncSettings()
        settings.resolveByField(Page.self)
        try await withServer(.models(Page.self), settings: settings) { context, server in
            let table = context.table(Page.self)
            let original = try await staleCopy(
                of: ["title": "A", "views": 10], changed: ["title": "B", "views": 15], in: table, server)
            var edited = original
            edited.title = "C"
            edited.views = 11
            try await table.save(edited, from: original)
            try await context.push()
            let fields = try server.row("x", in: "Page")?.fields
            #expect(fields?["title"] == "B" && fields?["views"] == 16)
            #expect(try await table.get("x")?.views == 16)
        }
    }

    @Test func `discarding a save of a stale copy restores the row that was stored`() async throws {
        try await withServer(.models(Page.self)) { context, server in
            let table = context.table(Page.self)
            let original = try await staleCopy(
                of: ["title": "A"], changed: ["title": "B"], in: table, server)
            var edited = original
            edited.title = "C"
            try await table.save(edited, from: original)
            await #expect(throws: SyncError.self) { try await context.push() }
            let problem = try #require(try await table.problems().first)
            try await context.cancelAndDiscardItem(for: problem.raw)
            #expect(try await table.get("x")?.title == "B")
            #expect(try await context.pendingOperationCount() == 0)
        }
    }

    @Test func `an insert of a copy does not write what the server sets`() async throws {
        try await withServer(.models(Page.self)) { context, server in
            try await server.put("x", ["title": "A", "color": "red"], in: "Page")
            try await context.sync(Page.all.pull())
            let table = context.table(Page.self)
            var copy = try #require(try await table.get("x"))
            copy.id = "y"
            try await table.insert(copy)
            try await context.push()
            #expect(try server.row("y", in: "Page")?.fields["title"] == "A")
            #expect(try server.row("y", in: "Page")?.fields["color"] == nil)
        }
    }
}
