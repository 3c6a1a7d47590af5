// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import SyncModels
import TableServer
import Testing

@testable import TypedApp

/// The app with a real server in the test, which can fail in every way that a network does.
struct TypedAppTests {
    private func withServer(_ body: (TableServer) async throws -> Void) async throws {
        try await withTableServer(.init(tables: [.init("TodoItem"), .init("TodoList")]), body)
    }

    private func context(_ server: TableServer) throws -> SyncContext {
        let store = try MemoryStore(tables: .models(TodoList.self, Todo.self))
        return SyncContext(client: SyncClient(url: server.url), dataSource: store)
    }

    private func lines(_ lines: String...) -> AsyncStream<String> {
        AsyncStream { continuation in
            for line in lines { continuation.yield(line) }
            continuation.finish()
        }
    }

    @Test func `the to-dos of one device appear on the other`() async throws {
        try await withServer { server in
            try await TypedApp.run(try context(server), lines: lines("Buy milk", "Buy eggs", "")) { _ in }
            let other = try context(server)
            try await other.sync(Todo.all.pull())
            let todos = try await other.table(Todo.self).fetch(Todo.all.order(by: \.text))
            #expect(todos.map(\.text) == ["Buy eggs", "Buy milk"])
            #expect(todos.map(\.complete) == [true, false])
        }
    }

    @Test func `a to-do is inserted once although the server's answer is lost`() async throws {
        try await withServer { server in
            server.inject(.dropAnswer, when: { $0.method == "POST" })
            try await TypedApp.run(try context(server), lines: lines("Buy milk")) { _ in }
            #expect(try server.rows(in: "TodoItem").map { $0.fields["text"] } == ["Buy milk"])
        }
    }
}
