// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels
import Testing

/// Reads and writes of one model.
@Suite struct ModelTableTests {
    @Test func `an inserted model is fetched, counted, changed and deleted`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            let milk = try await table.insert(Todo(text: "Buy milk", tags: ["shop"]))
            let eggs = try await table.insert(Todo(text: "Buy eggs"))
            #expect(try await table.get(milk.id) == milk)
            #expect(try await table.fetch() == [milk, eggs].sorted { $0.id.text < $1.id.text })
            #expect(try await table.count() == 2)
            let done = try await table.update(milk.id) { $0.complete = true }
            #expect(done.complete && done.text == "Buy milk")
            #expect(try await table.get(milk.id) == done)
            try await table.delete(eggs.id)
            #expect(try await table.fetch() == [done])
            #expect(try await table.get(eggs.id) == nil)
        }
    }

    @Test func `an update writes the changed columns only`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            try await table.raw.insert(["id": "x", "text": "one", "tags": ["a", 1]])
            try await table.update("x") { $0.text = "two" }
            #expect(try await table.raw.item(id: "x")?.fields == ["text": "two", "tags": ["a", 1]])
        }
    }

    @Test func `an update without a change writes nothing`() async throws {
        try await withServer(.models(TodoList.self, Todo.self)) { context, server in
            let table = context.table(Todo.self)
            let todo = try await table.insert(Todo(text: "one", due: .now))
            try await context.push()
            #expect(try await table.update(todo.id) { $0.text = "one" } == todo)
            #expect(try await table.save(todo, from: todo) == todo)
            #expect(try await context.pendingOperationCount() == 0)
        }
    }

    @Test func `an update whose closure throws changes nothing`() async throws {
        struct Stop: Error {}
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            let todo = try await table.insert(Todo(text: "one"))
            await #expect(throws: Stop.self) {
                try await table.update(todo.id) { todo in
                    todo.text = "two"
                    throw Stop()
                }
            }
            #expect(try await table.get(todo.id) == todo)
        }
    }

    @Test func `a batch writes several models in one transaction, and reads its own changes`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let names = try await context.batch { local in
                let list = try local.insert(TodoList(name: "Garden"))
                let todo = try local.insert(Todo(text: "Plant a tree", list: list.id))
                try local.update(todo.id) { $0.complete = true }
                var edited = list
                edited.name = "Park"
                try local.save(edited, from: list)
                let extra = try local.insert(Todo(text: "Extra"))
                try local.delete(extra.id)
                let todos = try local.fetch(Todo.where { $0.list == list.id && $0.complete })
                return [try local.get(list.id)?.name, todos.first?.text, "\(try local.count(Todo.all))"]
            }
            #expect(names == ["Park", "Plant a tree", "1"])
            await #expect(throws: SyncError.self) {
                try await context.batch { local in
                    try local.insert(TodoList(name: "Lost"))
                    try local.delete(SyncID<Todo>("missing"))
                }
            }
            #expect(try await context.table(TodoList.self).count() == 1)
        }
    }

    @Test func `a read of two tables is one snapshot`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let list = try await context.table(TodoList.self).insert(TodoList(name: "Garden"))
            try await context.table(Todo.self).insert(Todo(text: "Plant a tree", list: list.id))
            let (todos, lists) = try await context.read {
                (try $0.fetch(Todo.all), try $0.fetch(TodoList.all))
            }
            #expect(todos.map(\.list) == [list.id] && lists == [list])
            let (name, count, raw) = try await context.read { local in
                (
                    try local.get(list.id)?.name, try local.count(Todo.where { $0.list == list.id }),
                    try local.items(matching: TableQuery("TodoItem")).items.count
                )
            }
            #expect(name == "Garden" && count == 1 && raw == 1)
        }
    }

    @Test func `count and total count respect the window of the query`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            for number in 0..<5 { try await table.insert(Todo(text: "\(number)")) }
            let page = try await table.page(
                Todo.all.order(by: \.text).offset(1).limit(2).includingTotalCount())
            #expect(page.models.map(\.text) == ["1", "2"] && page.totalCount == 5)
            #expect(try await table.count(Todo.all.offset(1).limit(2)) == 2)
            #expect(try await table.count(Todo.all.offset(4)) == 1)
            #expect(try await table.count(Todo.all.offset(9)) == 0)
        }
    }

    @Test func `a count with a negative limit or offset throws the error of a fetch`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            try await table.insert(Todo(text: "a"))
            let mistakes = [
                (Todo.all.limit(-1), "The limit -1 is negative."),
                (Todo.all.offset(-1), "The offset -1 is negative."),
            ]
            for (query, expected) in mistakes {
                #expect(await message { try await table.fetch(query) } == expected)
                #expect(await message { try await table.count(query) } == expected)
                #expect(await message { try await context.batch { try $0.count(query) } } == expected)
                let counts = context.live({ reader in try reader.count(query) })
                #expect(await message { for try await _ in counts { break } } == expected)
            }
        }
    }

    @Test func `a purge removes local models that match`() async throws {
        try await withContext(.models(TodoList.self, Todo.self)) { context in
            let table = context.table(Todo.self)
            try await table.insert(Todo(text: "a", complete: true))
            try await table.insert(Todo(text: "b"))
            try await table.purge(Todo.where { $0.complete }, pending: .discard)
            #expect(try await table.fetch().map(\.text) == ["b"])
        }
    }
}
