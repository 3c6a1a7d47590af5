// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StoreConformance
import Synchronization
import TableServer
import Testing

@testable import SyncCore
@testable import SyncModels

/// Live queries of models.
@Suite struct LiveResultsTests {
    @Test(arguments: StoreKind.allCases)
    func `the changes of each page lead from the page before to this one`(_ kind: StoreKind) async throws {
        try await withContext(on: kind, .models(Todo.self, TodoList.self)) { context in
            let table = context.table(Todo.self)
            let query = Todo.where { !$0.complete }.order(by: \.text).limit(6)
            var pages = table.live(query).makeAsyncIterator()
            var shown = try #require(await pages.next()).models
            var random = SeededGenerator(seed: 5)
            var ids: [Todo.ID] = []
            for _ in 0..<150 {
                try await act(&random, &ids, table)
                let expected = try await table.fetch(query)
                // A page that is the same as the one before is not shown.
                guard expected != shown else { continue }
                let page = try #require(await pages.next())
                let changes = try #require(page.changes)
                #expect(shown.applying(changes, from: page) == page.models)
                #expect(page.models == expected)
                shown = page.models
            }
        }
    }

    private func act(
        _ random: inout SeededGenerator, _ ids: inout [Todo.ID], _ table: ModelTable<Todo>
    ) async throws {
        let text = "\(Int.random(in: 0..<30, using: &random))"
        let isComplete = Int.random(in: 0..<3, using: &random) == 0
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where !ids.isEmpty:
            try await table.delete(ids.remove(at: Int.random(in: 0..<ids.count, using: &random)))
        case 1,
            2 where !ids.isEmpty:
            guard let id = ids.randomElement(using: &random) else { return }
            try await table.update(id) { todo in
                todo.complete = isComplete
                if !isComplete { todo.text = text }
            }
        default: ids.append(try await table.insert(Todo(text: text, complete: isComplete)).id)
        }
    }

    @Test func `sync states follow the queue`() async throws {
        try await withServer(.models(Todo.self, TodoList.self)) { context, _ in
            let table = context.table(Todo.self)
            let todo = try await table.insert(Todo(text: "Buy milk"))
            var pages = table.live().withSyncStates().makeAsyncIterator()
            #expect(try await pages.next()?.syncState(of: todo.id) == .pending)
            async let next = pages.next()
            try await context.push()
            #expect(try await next?.syncState(of: todo.id) == .synced)
        }
    }

    @Test func `a conflict is a sync state`() async throws {
        try await withServer(.models(TodoList.self)) { context, server in
            let table = context.table(TodoList.self)
            let list = try await table.insert(TodoList(name: "Garden"))
            try await context.push()
            try await server.put(list.id.text, ["name": "House"], in: "TodoList")
            try await table.update(list.id) { $0.name = "Yard" }
            _ = try? await context.push()
            var pages = table.live().withSyncStates().makeAsyncIterator()
            #expect(try await pages.next()?.syncState(of: list.id) == .conflict(.preconditionFailed))
        }
    }

    @Test func `a model with system properties has a new page when the server has the row`() async throws {
        try await withServer(.models(Page.self)) { context, _ in
            let table = context.table(Page.self)
            try await table.insert(Page(title: "one"))
            var pages = table.live().makeAsyncIterator()
            #expect(try await pages.next()?.first?.sync.version == nil)
            try await context.push()
            #expect(try await pages.next()?.first?.sync.version != nil)
        }
    }

    @Test func `an unreadable row is listed, and the others are shown`() async throws {
        try await withContext(.models(Page.self)) { context in
            let table = context.table(Page.self)
            var pages = table.live().makeAsyncIterator()
            #expect(try await pages.next()?.isEmpty == true)
            try await table.insert(Page(title: "good"))
            #expect(try await pages.next()?.map(\.title) == ["good"])
            try await table.raw.insert(["id": "bad", "title": .null])
            let page = try #require(await pages.next())
            #expect(page.map(\.title) == ["good"])
            #expect(page.unreadable.map(\.id) == ["bad"])
        }
    }

    @Test func `a live value follows the tables that it has read`() async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            let runs = Mutex(0)
            let (todos, lists) = (context.table(Todo.self), context.table(TodoList.self))
            let list = try await lists.insert(TodoList(name: "Garden"))
            // The insert may return before its commit is signalled.
            await context.store.didSignalCommits()
            var values = context.live { reader in
                runs.withLock { $0 += 1 }
                let name = try reader.get(list.id)?.name ?? "none"
                // Which queries are run depends on the list.
                return name == "Garden" ? name : "\(name) \(try reader.fetch(Todo.all).count)"
            }.makeAsyncIterator()
            #expect(try await values.next() == "Garden")
            async let next = values.next()
            try await todos.insert(Todo(text: "is not read"))
            try await lists.insert(TodoList(name: "is not read"))
            try await lists.update(list.id) { $0.name = "House" }
            #expect(try await next == "House 1")
            #expect(runs.withLock { $0 } == 2)
        }
    }

    @Test func `a live value whose read has failed is read again without a commit`() async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            let fails = Mutex(false)
            let todos = context.table(Todo.self)
            var counts = context.live { reader in
                if fails.withLock({ $0 }) { throw StoreError(.inputOutput, "The drive is away.") }
                return try reader.fetch(Todo.all).count
            }.makeAsyncIterator()
            #expect(try await counts.next() == 0)
            fails.withLock { $0 = true }
            try await todos.insert(Todo(text: "one"))
            await #expect(throws: SyncError.self) { try await counts.next() }
            fails.withLock { $0 = false }
            #expect(try await counts.next() == 1)
        }
    }

    @Test func `a live value is not repeated`() async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            let (runs, continuation) = AsyncStream.makeStream(of: Void.self)
            var run = runs.makeAsyncIterator()
            let todos = context.table(Todo.self)
            let todo = try await todos.insert(Todo(text: "one"))
            var counts = context.live { reader in
                continuation.yield()
                return try reader.fetch(Todo.all).count
            }.makeAsyncIterator()
            #expect(try await counts.next() == 1)
            await run.next()
            try await todos.update(todo.id) { $0.text = "changed" }
            async let next = counts.next()
            // The same count has been read.
            await run.next()
            try await todos.insert(Todo(text: "two"))
            #expect(try await next == 2)
        }
    }

    @Test func `a live value follows a commit made after a read and before the next value is asked for`()
        async throws
    {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            let (runs, didBegin) = AsyncStream.makeStream(of: Void.self)
            let (asks, ask) = AsyncStream.makeStream(of: Void.self)
            let (values, value) = AsyncStream.makeStream(of: Int?.self)
            let gate = DispatchSemaphore(value: 0)
            let task = Task {
                var counts = context.live { reader in
                    didBegin.yield()
                    gate.wait()
                    return try reader.fetch(Todo.all).count
                }.makeAsyncIterator()
                for await _ in asks { value.yield(try await counts.next()) }
            }
            defer { task.cancel() }
            var (run, count) = (runs.makeAsyncIterator(), values.makeAsyncIterator())
            ask.yield()
            await run.next()
            // A commit during the read, of a table that is not read.
            try await context.table(TodoList.self).insert(TodoList(name: "is not read"))
            for _ in 0..<3 { gate.signal() }
            #expect(await count.next() == 0)
            try await context.table(Todo.self).insert(Todo(text: "one"))
            ask.yield()
            #expect(await count.next() == 1)
        }
    }

    @Test func `undeclared values of a model are followed`() async throws {
        struct Row: SyncModel {
            var id = SyncID<Row>()
            var text = "", more: [String: ItemValue] = [:]
            static let schema = ModelSchema("Row", Row(), .field("text", \.text), .unknown(\.more))
        }
        try await withServer(.models(Row.self)) { context, server in
            try await server.put("1", ["text": "one", "color": "red"], in: "Row")
            try await context.sync(Row.all.pull())
            var pages = context.table(Row.self).live().makeAsyncIterator()
            #expect(try await pages.next()?.first?.more["color"] == "red")
            try await server.put("1", ["text": "one", "color": "blue"], in: "Row")
            try await context.sync(Row.all.pull())
            #expect(try await pages.next()?.first?.more["color"] == "blue")
        }
    }

    @Test func `a row with another sync state is an updated row`() async throws {
        try await withServer(.models(TodoList.self)) { context, _ in
            try await context.table(TodoList.self).insert(TodoList(name: "Garden"))
            var pages = context.table(TodoList.self).live().withSyncStates().makeAsyncIterator()
            #expect(try await pages.next()?.changes == nil)
            try await context.push()
            #expect(try await pages.next()?.changes?.updated == [0])
        }
    }

    @Test func `an operation of a row that the query does not match is no new page`() async throws {
        try await withContext(.models(TodoList.self)) { context in
            let table = context.table(TodoList.self)
            try await table.insert(TodoList(name: "Garden"))
            var pages = table.live(TodoList.where { $0.name == "Garden" }).withSyncStates()
                .makeAsyncIterator()
            let settle = pages.settle
            let count = Mutex(0)
            #expect(try await pages.next()?.count == 1)
            let reader = Task { [iterator = pages] in
                var pages = iterator
                while try await pages.next() != nil { count.withLock { $0 += 1 } }
            }
            try await table.insert(TodoList(name: "House"))
            await settle()
            #expect(count.withLock { $0 } == 0)
            try await context.close()
            try await reader.value
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of another column is no new page of a model without columns`(_ kind: StoreKind)
        async throws
    {
        struct Row: SyncModel {
            var id = SyncID<Row>()
            static let schema = ModelSchema("Row", Row())
        }
        let definition = SyncTableDefinition("Row", columns: [SyncColumn("text", .text)])
        try await withContext(on: kind, [definition]) { context in
            let table = context.table(Row.self)
            try await table.raw.insert(["id": "1", "text": "one"])
            // The insert may return before its commit is signalled.
            await context.store.didSignalCommits()
            var pages = table.live().makeAsyncIterator()
            let settle = pages.settle
            let count = Mutex(0)
            #expect(try await pages.next()?.map(\.id) == ["1"])
            let reader = Task { [iterator = pages] in
                var pages = iterator
                while try await pages.next() != nil { count.withLock { $0 += 1 } }
            }
            try await table.raw.update(id: "1", ["text": "two"])
            await settle()
            #expect(count.withLock { $0 } == 0)
            try await context.close()
            try await reader.value
        }
    }

    @Test func `a throttled sequence ends when the context closes, and not after its delay`() async throws {
        try await withContext(.models(TodoList.self)) { context in
            let table = context.table(TodoList.self)
            var pages = table.live(throttle: .seconds(1_000_000)).makeAsyncIterator()
            #expect(try await pages.next()?.isEmpty == true)
            try await table.insert(TodoList(name: "Garden"))
            async let next = pages.next()
            try await context.close()
            #expect(try await next == nil)
        }
    }

    @Test func `a live value runs again when a read that has failed may succeed`() async throws {
        try await withContext(.models(Page.self)) { context in
            let table = context.table(Page.self)
            try await table.raw.insert(["id": "1", "title": .null])
            var titles = context.live { reader in
                (try? reader.get("1" as SyncID<Page>))?.title ?? "unreadable"
            }
            .makeAsyncIterator()
            #expect(try await titles.next() == "unreadable")
            try await table.raw.update(id: "1", ["title": "readable"])
            #expect(try await titles.next() == "readable")
        }
    }
}
