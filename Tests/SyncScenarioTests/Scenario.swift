// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore
import Synchronization
import TableServer
import Testing

/// The to-do table of the scenarios, with a column of every kind that matters.
enum Todo {
    static let name = "TodoItem"
    static let text = SyncColumn("text", .text)
    static let complete = SyncColumn("complete", .bool, isIndexed: true)
    static let priority = SyncColumn("priority", .integer)
    static let price = SyncColumn("price", .double)
    static let due = SyncColumn("due", .date)
    static let photo = SyncColumn("photo", .data)
    static let tags = SyncColumn("tags", .json)
    static let note = SyncColumn("note", .text, isLocalOnly: true)
    static let definition = SyncTableDefinition(
        name, columns: [text, complete, priority, price, due, photo, tags, note])
    static let query = TableQuery(name)
}

/// A server, and a directory for the stores of any number of devices.
struct Scenario {
    let server: TableServer
    let kind: StoreKind
    let directory: URL

    /// Runs the body with a fresh server and directory, and leaves nothing behind.
    static func run(
        on kind: StoreKind, configure: (inout TableServer.Configuration) -> Void = { _ in },
        _ body: (Scenario) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("scenario-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        var configuration = TableServer.Configuration(tables: [
            .init(Todo.name), .init("Other", softDelete: false),
        ])
        configure(&configuration)
        try await withTableServer(configuration) { server in
            try await body(Scenario(server: server, kind: kind, directory: directory))
        }
    }

    /// A device with a store of its own; the same name opens the same store again.
    func device(
        _ name: String = "A", delegate: (any SyncContextDelegate)? = nil,
        settings: SyncSettings = SyncSettings(), tables: [SyncTableDefinition] = [Todo.definition],
        transport: any HTTPTransport = URLSessionTransport(),
        environment change: (inout SyncEnvironment) -> Void = { _ in }
    ) throws -> Device {
        let store = try kind.open(in: directory, name: name, tables: tables)
        let client = SyncClient(url: server.url, transport: transport, installationID: name)
        var environment = SyncEnvironment.instant(
            seed: UInt64(name.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
        change(&environment)
        let context = SyncContext(
            client: client, dataSource: store, delegate: delegate, settings: settings,
            environment: environment)
        return Device(context: context, store: store)
    }

    /// The server's live rows: what every client must come to have.
    func serverTexts() throws -> [String] {
        try server.rows(in: Todo.name).filter { !$0.deleted }
            .compactMap { $0.fields["text"]?.textValue }.sorted()
    }
}

/// One client.
struct Device {
    let context: SyncContext
    let store: any SyncContextDataSource

    var table: SyncTable { context.table(Todo.name) }

    func sync() async throws {
        try await context.push()
        try await context.pull(Todo.query, queryID: "all")
    }

    func texts() async throws -> [String] {
        try await table.items().compactMap { $0["text"]?.textValue }.sorted()
    }

    func operations() async throws -> [TableOperation] { try await context.pendingOperations() }
}

extension SyncEnvironment {
    /// Waits that take no time, and the same random numbers every time.
    static func instant(seed: UInt64) -> SyncEnvironment {
        var environment = SyncEnvironment.live
        environment.sleep = { _ in try Task.checkCancellation() }
        let state = SharedGenerator(seed: seed)
        environment.random = { state.next() }
        return environment
    }
}

/// A seeded generator that closures can share.
final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }
}

/// Expects the framework's error with that code, and returns it.
@discardableResult
func expectError(
    _ code: SyncError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async -> SyncError? {
    do {
        try await body()
        Issue.record("Nothing was thrown where code \(code.rawValue) is due", sourceLocation: sourceLocation)
    } catch let error as SyncError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
    return nil
}
