// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Observation
import SyncModels
import Synchronization
import TestSupport
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

    @Test(arguments: [FirstPage.asynchronous, .immediate])
    func `a list can show which rows the server has`(first: FirstPage) async throws {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            let todo = Todo(text: "one")
            try await context.table(Todo.self).insert(todo)
            let list = LiveList(Todo.all, in: context, first: first, showsSyncStates: true)
            #expect(list.isLoading == (first == .asynchronous))
            await list.settled()
            #expect(list.page?.syncState(of: todo.id) == .pending)
        }
    }

    @Test func `a list for another query can show the page of a former one until it has read its own`()
        async throws
    {
        try await withContext(.models(Todo.self, TodoList.self)) { context in
            try await context.table(Todo.self).insert(Todo(text: "one"))
            let former = LiveList(Todo.all, in: context)
            await former.settled()
            let list = LiveList(
                Todo.where { $0.complete }, in: context, first: .asynchronous, showing: former.page)
            #expect(list.isLoading && list.models.map(\.text) == ["one"])
            await list.settled()
            #expect(!list.isLoading && list.models.isEmpty)
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

    /// Runs an action when the next item is decoded.
    private struct Watched: FieldValue {
        static let onDecode = Mutex<(@Sendable () -> Void)?>(nil)
        static var columnType: ColumnType { .text }
        var itemValue: ItemValue { .text(text) }
        var text = ""

        init() {}
        init?(itemValue: ItemValue) { Self.onDecode.withLock { $0.take() }?() }
    }

    @Test func `a list whose query changes while its page is decoded is settled`() async throws {
        struct Row: SyncModel {
            var id = SyncID<Row>()
            var number = 0, watched = Watched()
            static let schema = ModelSchema(
                "Row", Row(), .field("number", \.number), .field("watched", \.watched))
        }
        try await withContext(.models(Row.self)) { context in
            try await context.table(Row.self).insert(Row(number: 1))
            let list = LiveList(Row.all, in: context)
            Watched.onDecode.withLock {
                $0 = { Task { @MainActor in list.query = Row.where { $0.number == 1 } } }
            }
            let settled = Task { await list.settled() }
            await settled.value
            #expect(list.query != Row.all && list.models.map(\.number) == [1])
        }
    }

    @Test(arguments: [FirstPage.asynchronous, .immediate])
    func `a list whose query uses a property without a column is settled, and shows the error`(
        _ first: FirstPage
    ) async throws {
        try await withContext(on: .sqlite, .models(Page.self)) { context in
            let list = LiveList(Page.where { $0.isOpen }, in: context, first: first)
            await list.settled()
            #expect(list.error?.message.contains("Page.isOpen, which has no column") == true)
            await list.settled()
            list.query = Page.all
            await list.settled()
            #expect(list.error == nil && list.models.isEmpty && !list.isLoading)
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

    @Test(arguments: [FirstPage.asynchronous, .immediate])
    func `a list of a closed context shows that it is closed; one that has a page keeps it`(
        _ first: FirstPage
    ) async throws {
        try await withContext(on: .sqlite, .models(TodoList.self)) { context in
            try await context.table(TodoList.self).insert(TodoList(name: "Garden"))
            let list = LiveList(TodoList.all, in: context, first: first)
            await list.settled()
            try await context.close()
            await list.settled()
            #expect(list.error == nil && list.models.map(\.name) == ["Garden"])
            let late = LiveList(TodoList.all, in: context, first: first)
            await late.settled()
            #expect(late.error?.code == .contextInvalid && !late.isLoading)
        }
    }

    @Test(arguments: [StoreKind.sqlite, .lmdb])
    func `a list with an immediate first page has its models at once`(_ kind: StoreKind) async throws {
        try await withContext(on: kind, .models(Todo.self, TodoList.self)) { context in
            let table = context.table(Todo.self)
            try await table.insert(Todo(text: "open"))
            try await table.insert(Todo(text: "done", complete: true))
            let list = LiveList(Todo.where { !$0.complete }, in: context, first: .immediate)
            #expect(!list.isLoading && list.models.map(\.text) == ["open"])
            list.query = Todo.where { $0.complete }
            #expect(!list.isLoading && list.models.map(\.text) == ["done"])
            try await table.insert(Todo(text: "also done", complete: true))
            await list.settled()
            #expect(list.models.count == 2)
        }
    }

    @Test func `an immediate first page that cannot be read is read in the background, which says why`()
        async throws
    {
        try await withContext(on: .sqlite, .models(TodoList.self)) { context in
            let list = LiveList(Todo.all, in: context, first: .immediate)
            #expect(list.isLoading && list.error == nil)
            await list.settled()
            #expect(list.error?.code == .unknownTable)
        }
    }

    @Test func `an immediate first page never has rows of another user, or purged ones`() async throws {
        try await withTemporaryDirectory { directory in
            let url = try #require(URL(string: "http://127.0.0.1:9"))
            func open(_ tables: [SyncTableDefinition], user: String) throws -> SyncContext {
                let store = try StoreKind.sqlite.open(in: directory, tables: tables)
                return SyncContext(client: SyncClient(url: url), dataSource: store, userID: user)
            }
            let first = try open(.models(Todo.self, TodoList.self), user: "anna")
            try await first.table(Todo.self).insert(Todo(text: "secret"))
            try await first.close()

            let other = try open(.models(Todo.self, TodoList.self), user: "ben")
            let list = LiveList(Todo.all, in: other, first: .immediate)
            #expect(list.isLoading && list.models.isEmpty)
            await list.settled()
            #expect(list.error?.code == .storeOfAnotherUser)
            try await other.close()

            // The purge removes the rows of a table that it does not declare when a context declares it again.
            let narrow = try open(.models(TodoList.self), user: "anna")
            try await narrow.purgeAll(pending: .discard)
            try await narrow.close()
            let wide = try open(.models(Todo.self, TodoList.self), user: "anna")
            let purged = LiveList(Todo.all, in: wide, first: .immediate)
            #expect(purged.isLoading && purged.models.isEmpty)
            await purged.settled()
            #expect(purged.models.isEmpty && purged.error == nil)
            try await wide.close()
        }
    }

    @Test func `a query that an observer sets when an error is shown is followed`() async throws {
        try await withContext(on: .sqlite, .models(Page.self)) { context in
            try await context.table(Page.self).insert(Page(title: "one"))
            let list = LiveList(Page.where { $0.isOpen }, in: context)
            withObservationTracking {
                _ = list.error
            } onChange: {
                MainActor.assumeIsolated { list.query = Page.all }
            }
            await list.settled()
            #expect(list.query == Page.all)
            #expect(list.error == nil && !list.isLoading && list.models.map(\.title) == ["one"])
        }
    }

    @Test(arguments: [FirstPage.asynchronous, .immediate])
    func `a query that an observer sets when the page of another one is shown keeps its page`(
        _ first: FirstPage
    ) async throws {
        try await withContext(on: .sqlite, .models(Todo.self, TodoList.self)) { context in
            try await context.table(Todo.self).insert(Todo(text: "open"))
            try await context.table(Todo.self).insert(Todo(text: "done", complete: true))
            let list = LiveList(Todo.where { !$0.complete }, in: context, first: first)
            await list.settled()
            withObservationTracking {
                _ = list.page
            } onChange: {
                MainActor.assumeIsolated { list.query = Todo.all.order(by: \.text) }
            }
            list.query = Todo.where { $0.complete }
            if first == .immediate { #expect(list.models.map(\.text) == ["done", "open"]) }
            await list.settled()
            #expect(list.query == Todo.all.order(by: \.text))
            #expect(!list.isLoading && list.models.map(\.text) == ["done", "open"])
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
