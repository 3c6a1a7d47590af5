// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Observation
import SyncModels
import Testing

/// ``LiveList``, as a user interface sees it.
@Suite @MainActor struct LiveListTests {
    @Test func `a list is loading until its first page, and follows the store`() async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            try await context.table(Todo.self).insert(Todo(text: "one"))
            let list = LiveList(Todo.all.order(by: \.text), in: context)
            #expect(list.isLoading && list.models.isEmpty)
            await change { !list.isLoading }
            #expect(list.models.map(\.text) == ["one"])
            try await context.table(Todo.self).insert(Todo(text: "two"))
            await change { list.models.count == 2 }
            #expect(list.models.map(\.text) == ["one", "two"])
            #expect(list.page?.changes?.inserted == [1])
        }
    }

    @Test func `a new query keeps the models until its page is read`() async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            let table = context.table(Todo.self)
            try await table.insert(Todo(text: "open"))
            try await table.insert(Todo(text: "done", complete: true))
            let list = LiveList(Todo.where { !$0.complete }, in: context)
            await change { !list.isLoading }
            list.query = Todo.where { $0.complete }
            #expect(list.isLoading)
            #expect(list.models.map(\.text) == ["open"])
            await change { !list.isLoading }
            #expect(list.models.map(\.text) == ["done"])
        }
    }

    @Test func `a list shows why its query cannot be read`() async throws {
        try await withContext(.models(TodoList.self)) { context in
            let list = LiveList(Todo.all, in: context)
            await change { list.error != nil }
            #expect(list.error?.code == .unknownTable)
            #expect(!list.isLoading)
        }
    }

    @Test func `a settled list shows every write that has returned`() async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            let list = LiveList(Todo.all, in: context)
            await list.settled()
            #expect(!list.isLoading)
            for count in 1...20 {
                try await context.table(Todo.self).insert(Todo(text: "\(count)", complete: count == 7))
                await list.settled()
                #expect(list.models.count == count)
            }
            try await context.table(TodoList.self).insert(TodoList(name: "other"))
            await list.settled()
            list.query = Todo.where { $0.complete }
            await list.settled()
            #expect(list.models.map(\.text) == ["7"])
        }
    }

    @Test func `a list that can show nothing more is settled`() async throws {
        try await withContext(.models(TodoList.self)) { context in
            let unreadable = LiveList(Todo.all, in: context)
            await unreadable.settled()
            #expect(unreadable.error?.code == .unknownTable)
            let list = LiveList(TodoList.all, in: context)
            try await context.close()
            await list.settled()
            #expect(!list.isLoading)
        }
    }

    @Test func `a list that is not used is deallocated`() async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            weak var released: LiveList<Todo>?
            do {
                let list = LiveList(Todo.all, in: context)
                await change { !list.isLoading }
                released = list
            }
            #expect(released == nil)
        }
    }

    /// Waits until the condition is true; it is evaluated when a property that it reads changes.
    private func change(_ condition: () -> Bool) async {
        while true {
            let (changes, isChanged) = AsyncStream.makeStream(of: Void.self)
            let isMet = withObservationTracking(condition) { isChanged.finish() }
            if isMet { return }
            for await _ in changes {}
        }
    }
}
