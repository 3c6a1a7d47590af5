// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore
import TableServer
import Testing

@testable import todo

/// A server, and apps that talk to it from memory stores.
struct Bench {
    let server: TableServer

    /// Runs the body with a server that has the to-do table.
    static func run(softDelete: Bool = true, _ body: (Bench) async throws -> Void) async throws {
        let configuration = TableServer.Configuration(
            tables: [.init(TodoItem.definition.name, softDelete: softDelete)])
        try await withTableServer(configuration) { try await body(Bench(server: $0)) }
    }

    /// An app on a device of its own.
    func app(_ transcript: Transcript = Transcript(), isInteractive: Bool = true) throws -> TodoApp {
        try Self.app(server.url, transcript, isInteractive: isInteractive)
    }

    static func app(
        _ url: URL, _ transcript: Transcript = Transcript(), isInteractive: Bool = true
    ) throws -> TodoApp {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        let context = SyncContext(
            client: SyncClient(url: url), dataSource: try MemoryStore(tables: [TodoItem.definition]),
            settings: settings)
        return TodoApp(
            context: context, console: transcript.console(isInteractive: isInteractive), storeName: "memory")
    }

    /// The server's live rows as texts.
    func texts() throws -> [String] {
        try server.rows(in: TodoItem.definition.name).filter { !$0.deleted }
            .compactMap { $0.fields["text"]?.textValue }.sorted()
    }

    /// Puts a row on the server, as another device would.
    func put(_ id: String, _ text: String) async throws {
        try await server.put(
            id, ["text": .text(text), "complete": false], in: TodoItem.definition.name)
    }

    /// Deletes a row on the server, as another device would.
    func remove(_ id: String) async throws {
        try await server.remove(id, in: TodoItem.definition.name)
    }
}

extension TodoApp {
    /// The texts of all items.
    func texts() async throws -> [String] { try await table.items().map(\.text).sorted() }
}

/// Expects a sentence that says all of these, and returns it.
@discardableResult
func expectFailure(
    of app: TodoApp, saying parts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> String {
    do {
        try await body()
        Issue.record("Nothing was thrown", sourceLocation: sourceLocation)
        return ""
    } catch {
        let message = await app.explained(error).localizedDescription
        for part in parts {
            #expect(message.contains(part), "\(message)", sourceLocation: sourceLocation)
        }
        return message
    }
}
