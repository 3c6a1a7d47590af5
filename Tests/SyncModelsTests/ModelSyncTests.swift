// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import StoreSQLite
import SyncModels
import TableServer
import TestSupport
import Testing

/// Syncs of models with a server.
@Suite struct ModelSyncTests {
    @Test func `the first sync takes ten lines`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appendingPathComponent("todo.sqlite").path
            try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
                let url = server.url

                struct Todo: SyncModel {
                    var id = SyncID<Todo>()
                    var text = "", complete = false
                    static let schema = ModelSchema(
                        "TodoItem", Todo(), .field("text", \.text), .field("complete", \.complete))
                }
                let store = try SQLiteStore(path: path, tables: .models(Todo.self))
                let context = SyncContext(
                    client: SyncClient(url: url, transport: .patient), dataSource: store)
                try await context.table(Todo.self).insert(Todo(text: "Buy milk"))
                try await context.sync(Todo.all.pull())

                let rows = try server.rows(in: "TodoItem")
                #expect(rows.map(\.fields) == [["text": "Buy milk", "complete": false]])
                try await context.close()
            }
        }
    }

    @Test func `the next pull lists the unreadable rows of a sync that has thrown the errors of its push`()
        async throws
    {
        try await withServer(.models(Todo.self, TodoList.self)) { context, server in
            try await server.put("bad", ["text": 5], in: "TodoItem")
            try await context.table(Todo.self).insert(Todo(text: "refused"))
            server.inject(.answer(status: 400), when: { $0.method == "POST" })
            await #expect(throws: SyncError.self) { try await context.sync(Todo.all.pull()) }
            #expect(try await context.pull(Todo.all.pull()).unreadable.map(\.id) == ["bad"])
            #expect(try await context.pull(Todo.all.pull()).unreadable.isEmpty)
        }
    }

    @Test func `a sync pushes parents first, and pulls parents first`() async throws {
        try await withServer(.models(Todo.self, TodoList.self)) { context, server in
            let list = TodoList(name: "Garden")
            try await context.table(Todo.self).insert(Todo(text: "Plant a tree", list: list.id))
            try await context.table(TodoList.self).insert(list)
            let result = try await context.sync(Todo.all.pull(), TodoList.all.pull())
            #expect(result.push.completed == 2)
            #expect(result.pulls.map(\.received) == [1, 1])
            let paths = server.requests.map { "\($0.method) \($0.path.split(separator: "/").last ?? "")" }
            #expect(paths.prefix(3) == ["POST TodoList", "POST TodoItem", "GET TodoList"])
            #expect(paths.last == "GET TodoItem")
        }
    }

    @Test func `a pull without a query ID is incremental, and starts over for another query`() async throws {
        try await withServer(.models(TodoList.self, Todo.self)) { context, server in
            let table = context.table(Todo.self)
            for number in 0..<3 {
                try await server.put(
                    "\(number)", ["text": .text("\(number)"), "complete": .bool(number == 0)], in: "TodoItem",
                    updatedAt: Timestamp(seconds: Int64(number)))
            }
            #expect(try await table.pull().received == 3)
            #expect(try await table.pull(Todo.all.order(by: \.text)).received == 0)
            #expect(try await table.pull(Todo.where { !$0.complete }).received == 2)
            #expect(try await table.pull(Todo.where { !$0.complete }).received == 0)
            #expect(try await table.pull(Todo.all.limit(2)).received == 2)
            #expect(try await table.pull(id: "mine").received == 3)
            let names = try await context.deltaTokens(of: "TodoItem").keys.sorted()
            #expect(names.count == 3 && names.contains("all") && names.contains("mine"))
        }
    }

    @Test func `query IDs differ between queries, and are the same in every process`() throws {
        let queries = [
            Todo.where { $0.text == "a" }, Todo.where { $0.text == "b" }, Todo.where { $0.text != "a" },
            Todo.where { $0.text == "a" && $0.complete },
        ]
        let ids = try queries.map { try #require(try $0.pull().queryID) }
        #expect(Set(ids).count == ids.count)
        let query = Todo.all.raw
        let others = try [query.parameter("a", "1"), query.parameter("a", "2"), query.parameter("b", "1")].map
        {
            try #require(try PullPlan($0).queryID)
        }
        #expect(Set(ids + others).count == ids.count + others.count)
        #expect(ids.first == "edf2d6e5146a300b")
        #expect(try Todo.all.pull(id: "mine").queryID == "mine")
        #expect(try Todo.all.limit(1).pull().queryID == nil)
        #expect(Todo.all.pull(every: .seconds(300)).interval == .seconds(300))
    }

    @Test func `a sync pulls although an operation fails, and then throws its error`() async throws {
        try await withServer(.models(TodoList.self, Todo.self)) { context, server in
            try await server.put("theirs", ["text": "theirs"], in: "TodoItem")
            try await context.table(Todo.self).insert(Todo(id: "mine", text: "mine"))
            let refusal = Data(#"{"error":"no"}"#.utf8)
            server.inject(
                .answer(status: 400, headers: ["Content-Type": "application/json"], body: refusal),
                when: { $0.method == "POST" })
            let error = await #expect(throws: SyncError.self) { try await context.sync(Todo.all.pull()) }
            #expect(error?.code == .pushCompletedWithErrors)
            #expect(error?.pushResult?.errors.map(\.itemID) == ["mine"])
            #expect(server.requests.count { $0.method == "POST" } == 1)
            #expect(try await context.table(Todo.self).fetch().map(\.id) == ["mine", "theirs"])
        }
    }

    @Test(arguments: [false, true])
    func `a sync pulls while a proxy refuses a change because of its size, and then throws its error`(
        _ isAutomatic: Bool
    ) async throws {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        try await withServer(.models(TodoList.self, Todo.self), settings: settings) { context, server in
            try await server.put("theirs", ["text": "theirs"], in: "TodoItem")
            try await context.table(Todo.self).insert(Todo(id: "mine", text: "too large"))
            let page = Data("<html><h1>Too large</h1></html>".utf8)
            server.onRequest { request in
                guard request.method == "POST" else { return .none }
                return .answer(status: 413, headers: ["Content-Type": "text/html"], body: page)
            }
            let error = await #expect(throws: SyncError.self) {
                try await isAutomatic
                    ? AutoSync(context, pulls: [Todo.all.pull()]).syncNow()
                    : context.sync(Todo.all.pull())
            }
            #expect(error?.code == .pushAbortedService)
            #expect(try await context.table(Todo.self).fetch().map(\.id) == ["mine", "theirs"])
        }
    }

    @Test func `a push of models sends their operations only`() async throws {
        try await withServer(.models(TodoList.self, Todo.self)) { context, server in
            try await context.table(Todo.self).insert(Todo(text: "a"))
            try await context.table(TodoList.self).insert(TodoList(name: "b"))
            #expect(try await context.push(TodoList.self).completed == 1)
            #expect(try await context.pendingOperations().map(\.table) == ["TodoItem"])
        }
    }
}
