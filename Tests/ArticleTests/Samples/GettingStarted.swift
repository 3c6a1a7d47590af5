// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import StoreSQLite
import SyncCore
import TableServer
import Testing

/// The samples of the article "Getting started".
struct GettingStartedSamples {
    enum TodoItem {
        static let text = SyncColumn("text", .text)
        static let complete = SyncColumn("complete", .bool, isIndexed: true)
        static let definition = SyncTableDefinition("TodoItem", columns: [text, complete])
    }

    func openContext(at path: String, server url: URL) throws -> SyncContext {
        let store = try SQLiteStore(path: path, tables: [TodoItem.definition])
        #if os(Linux)
            let client = SyncClient(url: url, transport: AsyncHTTPTransport())
        #else
            let client = SyncClient(url: url)
        #endif
        return SyncContext(client: client, dataSource: store)
    }

    func sync(_ context: SyncContext) async throws {
        do {
            let result = try await context.table("TodoItem").pull(queryID: "all")
            for error in result.pushErrors { print("Not sent: \(error)") }
        } catch let error as SyncError where error.isOffline {
            // The app works with local data. Sync again when the network is back.
        }
    }

    /// The part that needs a server on a fixed port: see the article.
    func main() async throws {
        let url = URL(string: "http://127.0.0.1:8080")!
        let context = try openContext(at: "todo.sqlite", server: url)
        let todos = context.table("TodoItem")

        _ = todos

        try await context.close()
    }

    @Test func `the first app`() async throws {
        let directory = URL(filePath: NSTemporaryDirectory()).appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = directory.appending(path: "todo.sqlite").path()
        try await withTableServer(.init(tables: [.init("TodoItem")])) { server in
            let context = try openContext(at: path, server: server.url)
            let todos = context.table("TodoItem")

            let milk = try await todos.insert(["text": "Buy milk", "complete": false])
            try await todos.update(id: milk.id, ["complete": true])
            let bread = try await todos.insert(["text": "Buy bread", "complete": false])
            try await todos.delete(id: bread.id)

            try await context.batch { local in
                for text in ["Buy eggs", "Buy butter"] {
                    try local.insert(["text": .text(text), "complete": false], in: "TodoItem")
                }
            }

            let open = todos.query.where(TodoItem.complete == false).order(by: TodoItem.text)
            let result = try await todos.items(matching: open)
            for item in result.items {
                print(item[TodoItem.text]?.textValue ?? "")
            }

            #expect(result.items.map { $0["text"] } == ["Buy butter", "Buy eggs"])

            try await sync(context)
            #expect(try server.rows(in: "TodoItem").count == 3)

            for try await result in todos.observe(open) {
                #expect(result.items.count == 2)
                break
            }

            let observing = Task {
                for try await result in todos.observe(open) {
                    print("\(result.items.count) open")
                }
            }
            try await context.close()
            try await observing.value
        }
    }
}
