// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncModels
import TableServer
import TestSupport
import Testing

@testable import todo

/// A server with the to-do table, and apps with memory stores that use it.
struct TodoFixture {
    let server: TableServer

    /// Starts the server and runs the body.
    static func run(softDelete: Bool = true, _ body: (TodoFixture) async throws -> Void) async throws {
        let configuration = TableServer.Configuration(
            tables: [.init(TodoItem.schema.name, softDelete: softDelete)])
        try await withTableServer(configuration) { try await body(TodoFixture(server: $0)) }
    }

    /// Creates an app on a new device.
    func app(_ transcript: Transcript = Transcript(), isInteractive: Bool = true) throws -> TodoApp {
        try Self.app(server.url, transcript, isInteractive: isInteractive)
    }

    static func app(
        _ url: URL, _ transcript: Transcript = Transcript(), isInteractive: Bool = true
    ) throws -> TodoApp {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        let context = SyncContext(
            client: SyncClient(url: url, transport: .patient),
            dataSource: try MemoryStore(tables: .models(TodoItem.self)),
            settings: settings)
        return TodoApp(
            context: context, console: transcript.console(isInteractive: isInteractive), storeName: "memory")
    }

    /// Returns the texts of the server's rows, without tombstones.
    func texts() throws -> [String] {
        try server.rows(in: TodoItem.schema.name).filter { !$0.deleted }
            .compactMap { $0.fields["text"]?.textValue }.sorted()
    }

    /// Inserts or replaces a row on the server, as another device does.
    func put(_ id: String, _ text: String) async throws {
        try await server.put(
            id, ["text": .text(text), "complete": false], in: TodoItem.schema.name)
    }

    /// Deletes a row on the server, as another device does.
    func remove(_ id: String) async throws {
        try await server.remove(id, in: TodoItem.schema.name)
    }
}

extension TodoApp {
    /// Returns the texts of all items.
    func texts() async throws -> [String] { try await table.fetch().map(\.text).sorted() }
}

/// Expects an error whose message contains all of these parts, and returns the message.
@discardableResult
func expectFailure(
    of app: TodoApp, containing parts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async -> String {
    do {
        try await body()
        Issue.record("No error was thrown", sourceLocation: sourceLocation)
        return ""
    } catch {
        let message = await app.userFacingError(for: error).localizedDescription
        for part in parts {
            #expect(message.contains(part), "\(message)", sourceLocation: sourceLocation)
        }
        return message
    }
}
