// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncModels

struct TodoList: SyncModel {
    var id = SyncID<TodoList>(), name = ""
    static let schema = ModelSchema("TodoList", TodoList(), .field("name", \.name))
}

struct Todo: SyncModel {
    var id = SyncID<Todo>(), text = "", complete = false, list: SyncID<TodoList>?
    static let schema = ModelSchema(
        "TodoItem", Todo(), .field("text", \.text), .field("complete", \.complete), .field("listId", \.list))
}

/// Each line of the input is a new to-do, and an empty line completes the first one.
@main struct TypedApp {
    static func main() async throws {
        guard CommandLine.arguments.count == 3, let url = URL(string: CommandLine.arguments[2]) else {
            return print("usage: TypedApp FILE URL")
        }
        let store = try SQLiteStore(path: CommandLine.arguments[1], tables: .models(TodoList.self, Todo.self))
        // On Linux, an app passes an `AsyncHTTPTransport`: see the article "Getting started".
        let context = SyncContext(client: SyncClient(url: url), dataSource: store)
        // The main thread waits for input, so that no thread of the sync does.
        let lines = AsyncStream { @MainActor in readLine() }
        try await run(context, lines: lines) { print($0.joined(separator: ", ")) }
    }

    static func run(
        _ context: SyncContext, lines: AsyncStream<String>, show: @escaping @Sendable ([String]) -> Void
    ) async throws {
        let (todos, open) = (context.table(Todo.self), Todo.where { !$0.complete }.order(by: \.text))
        let sync = AutoSync(
            context, pulls: [TodoList.all.pull(every: .seconds(10)), Todo.all.pull(every: .seconds(10))])
        async let running: Void = sync.run()
        async let showing: Void = { for try await page in todos.live(open) { show(page.map(\.text)) } }()
        for await line in lines {
            if !line.isEmpty {
                try await todos.insert(Todo(text: line))
            } else if let first = try await todos.fetch(open.limit(1)).first {
                try await todos.update(first.id) { $0.complete = true }
            }
        }
        _ = await sync.finish(within: .seconds(10))
        let pending = try await context.pendingOperationCount()
        if pending > 0 { print("Changes that the next start sends: \(pending)") }
        try await context.close()
        _ = try await (running, showing)
    }
}
