// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncModels
import TableServer
import Testing

/// The samples of the article "Automatic sync".
struct AutomaticSyncSamples {
    struct TodoList: SyncModel {
        var id = SyncID<TodoList>(), name = ""
        static let schema = ModelSchema("TodoList", TodoList(), .field("name", \.name))
    }

    struct Todo: SyncModel {
        var id = SyncID<Todo>()
        var text = "", complete = false, list: SyncID<TodoList>?
        static let schema = ModelSchema(
            "TodoItem", Todo(), .field("text", \.text), .field("complete", \.complete),
            .field("listId", \.list))
    }

    @Test func `changes are sent while the sync runs`() async throws {
        try await withTableServer(.init(tables: [.init("TodoItem"), .init("TodoList")])) { server in
            let store = try MemoryStore(tables: .models(TodoList.self, Todo.self))
            let context = SyncContext(client: SyncClient(url: server.url), dataSource: store)
            try await context.table(Todo.self).insert(Todo(text: "Buy milk"))
            let running = Task { await self.run(context) }
            for try await status in context.observeStatus() where status.pendingOperations == 0 { break }
            running.cancel()
            await running.value
            #expect(try server.rows(in: "TodoItem").count == 1)

            try await context.table(Todo.self).insert(Todo(text: "Buy eggs"))
            try await request(AutoSync(context, pulls: [Todo.all.pull()]))
            #expect(try server.rows(in: "TodoItem").count == 2)

            let following = Task { await self.follow(context) }
            try await server.put("theirs", ["text": "Buy bread"], in: "TodoItem")
            for try await todos in context.table(Todo.self).live(Todo.all) where todos.count == 3 { break }
            following.cancel()
            await following.value
            try await context.close()
        }
    }

    private func follow(_ context: SyncContext) async {
        var settings = AutoSync.Settings()
        settings.followsChangeFeed = true
        let sync = AutoSync(context, pulls: [TodoList.all.pull(), Todo.all.pull()], settings: settings)
        await sync.run()
    }

    private func run(_ context: SyncContext) async {
        let sync = AutoSync(
            context, pulls: [TodoList.all.pull(every: .seconds(300)), Todo.all.pull(every: .seconds(300))])
        await sync.run()
    }

    private func report(to sync: AutoSync) {
        sync.signal(.background)
        sync.signal(.foreground)
        sync.signal(.networkUnavailable)
        sync.signal(.networkAvailable)
        sync.signal(.serverHint(tables: ["TodoItem"]))
    }

    private func request(_ sync: AutoSync) async throws {
        report(to: sync)
        let result = try await sync.syncNow()
        print("\(result.push.completed) sent, \(result.pulls.map(\.received)) received")
        #expect(result.push.completed == 1)
        await finish(sync)
    }

    private func finish(_ sync: AutoSync) async {
        let result = await sync.finish(within: .seconds(20))
        #expect(result.push.errors.isEmpty)
    }

    private func follow(_ sync: AutoSync) async {
        for await state in sync.states {
            switch state.phase {
            case .pushing(let done, let count): print("Sending \(done) of \(count)")
            case .pulling(let table, let rows, let total):
                print("\(table): \(rows) of \(total.map(String.init) ?? "?") rows")
            case .needsSignIn: print("Sign in to sync")
            default: print(state.pending == 0 ? "Everything is saved" : "\(state.pending) changes to send")
            }
        }
    }
}
