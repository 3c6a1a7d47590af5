// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import StoreMemory
import StoreSQLite
import SyncCore
import TestSupport
import Testing

/// The stores that receive hostile input.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible {
    case memory, sqlite, lmdb

    static let persistent: [StoreKind] = [.sqlite, .lmdb]

    var testDescription: String { rawValue }

    func open(at path: String, tables: [SyncTableDefinition] = [Thing.definition]) throws
        -> any SyncContextDataSource
    {
        switch self {
        case .memory: try MemoryStore(tables: tables)
        case .sqlite: try SQLiteStore(path: path, tables: tables)
        case .lmdb: try LMDBStore(path: path, tables: tables)
        }
    }
}

/// A client with a store of its own, and the server that it syncs with.
struct Client {
    let server: HostileServer
    let context: SyncContext
    let store: any SyncContextDataSource

    var table: SyncTable { context.table(Thing.name) }

    /// Runs the body with a new client and server.
    static func run(
        on kind: StoreKind = .memory, server: HostileServer? = nil, dialect: WireDialect = .v2,
        settings: SyncSettings = SyncSettings(), environment: SyncEnvironment = .instant,
        _ body: (Client) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let store = try kind.open(at: directory.appending(path: "store").path)
            let server = try server ?? HostileServer()
            let client = Client(
                server: server,
                context: SyncContext(
                    client: SyncClient(
                        url: HostileServer.url, transport: server, dialect: dialect, installationID: "a"),
                    dataSource: store, settings: settings, environment: environment),
                store: store)
            try await body(client)
            try await client.context.close()
        }
    }

    @discardableResult
    func pull(_ settings: PullSettings = PullSettings()) async throws -> PullResult {
        try await context.pull(Thing.query, queryID: "all", settings: settings)
    }

    /// Everything that is stored and can be read through the context.
    struct Contents: Equatable {
        var items: [Item]
        var operations: [TableOperation]
        var errors: [TableOperationError]
        var tokens: [String: String]
    }

    func contents() async throws -> Contents {
        Contents(
            items: try await table.items(), operations: try await context.pendingOperations(),
            errors: try await context.operationErrors(),
            tokens: try await context.deltaTokens(of: Thing.name))
    }

    /// Expects that after a push and a pull with a healthy server both sides have the same rows, and that the queue and
    /// the error log are empty.
    func expectHealthySync(
        _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        server.respond(nil)
        try await context.push()
        try await context.pull(Thing.query)
        try await expectAgreement(comment, sourceLocation: sourceLocation)
    }

    /// Expects that a row which another client inserts now, and one that this client inserts, are synced.
    ///
    /// The store may have more rows than the server, from hostile responses.
    func expectLaterRowsArePulled(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        server.respond(nil)
        let remote = context.client.table(Thing.name)
        _ = try await remote.insert(["text": "theirs"], id: "later-theirs")
        try await table.insert(["id": "later-mine", "text": "mine"])
        try await pull()
        #expect(server.row("later-mine")?.fields["text"] == "mine", sourceLocation: sourceLocation)
        #expect(
            try await table.item(id: "later-theirs")?["text"] == "theirs", sourceLocation: sourceLocation)
        #expect(try await context.pendingOperations().isEmpty, sourceLocation: sourceLocation)
    }

    /// Expects that server and store have the same rows, and that the queue and the error log are empty.
    func expectAgreement(
        _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let contents = try await contents()
        let items = Dictionary(uniqueKeysWithValues: contents.items.map { (UTF8Text($0.id), $0) })
        let rows = server.rows()
        #expect(Set(items.keys) == Set(rows.keys), comment, sourceLocation: sourceLocation)
        for (id, row) in rows {
            let fields = (items[id]?.fields ?? [:]).filter { $0.key != "note" }
            #expect(comparable(fields) == comparable(row.fields), comment, sourceLocation: sourceLocation)
            #expect(items[id]?.system.version == row.version, comment, sourceLocation: sourceLocation)
        }
        #expect(contents.operations.isEmpty, comment, sourceLocation: sourceLocation)
        #expect(contents.errors.isEmpty, comment, sourceLocation: sourceLocation)
    }

    /// Returns the fields as JSON, without nulls, which equal missing fields on the server.
    private func comparable(_ fields: [String: ItemValue]) -> [String: String] {
        fields.filter { !$0.value.isNull }.mapValues { String(decoding: $0.json, as: UTF8.self) }
    }
}

/// Returns the code of the ``SyncError`` that the body throws; `nil` if it throws none.
func code(_ body: () async throws -> Void) async throws -> SyncError.Code? {
    do {
        try await body()
        return nil
    } catch let error as SyncError {
        return error.code
    }
}
