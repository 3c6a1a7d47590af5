// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPTransport
import Foundation
import HTTPTypes
import StoreLMDB
import StoreSQLite
import SyncCore
import TableServer
import TestSupport

/// A store of two tables in a directory for one test.
struct StoreFixture {
    enum Kind: String, CaseIterable, Sendable {
        case sqlite, lmdb
    }

    static let tables = [
        SyncTableDefinition("Board", columns: [SyncColumn("title", .text)]),
        SyncTableDefinition(
            "Task",
            columns: [
                SyncColumn("text", .text), SyncColumn("board", .text),
                SyncColumn("draft", .text, isLocalOnly: true),
            ], parents: ["Board"]),
    ]

    let kind: Kind
    let directory = Result { try TemporaryDirectory() }

    init(_ kind: Kind) {
        self.kind = kind
    }

    func path(_ name: String = "app") throws -> String {
        try directory.get().file("\(name).\(kind.rawValue)")
    }

    func open(tables: [SyncTableDefinition] = Self.tables) throws -> any SyncContextDataSource {
        switch kind {
        case .sqlite: try SQLiteStore(path: try path(), tables: tables)
        case .lmdb: try LMDBStore(path: try path(), tables: tables)
        }
    }

    /// Makes the store with these contents and closes it.
    func make(_ write: (any StoreTransaction) throws -> Void = { _ in }) throws {
        let store = try open()
        try store.write(write)
        try store.close()
    }

    /// Runs the body with a server of the tables and a context on the open store.
    func withServer(_ body: (TableServer, SyncContext, RequestRecorder) async throws -> Void) async throws {
        let tables = Self.tables.map { TableServer.Table($0.name) }
        try await withTableServer(TableServer.Configuration(tables: tables)) { server in
            let recorder = RequestRecorder()
            var settings = SyncSettings()
            settings.retry.maxAttempts = 1
            let client = SyncClient(
                url: server.url, transport: AsyncHTTPTransport().intercepted(by: recorder),
                installationID: "test")
            let context = SyncContext(client: client, dataSource: try open(), settings: settings)
            try await body(server, context, recorder)
            try await context.close()
        }
    }

    /// Copies the files of the open store to another name, as they are after the process was killed.
    func copyFiles(to name: String) throws -> String {
        let (source, copy) = (try path(), try path(name))
        for suffix in ["", "-wal", "-shm", "-lock", ".lock"]
        where FileManager.default.fileExists(atPath: source + suffix) {
            try FileManager.default.copyItem(atPath: source + suffix, toPath: copy + suffix)
        }
        return copy
    }

    /// Returns the content and the time of the last change of every file by name.
    ///
    /// Reading a file of a store that this process has open would release the locks of the store.
    func files(readingContent: Bool = true) throws -> [String: FileState] {
        let directory = try directory.get().url
        return try FileManager.default.contentsOfDirectory(atPath: directory.path).reduce(into: [:]) {
            files, name in
            let url = directory.appending(path: name)
            let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
            files[name] = FileState(
                content: readingContent ? try Data(contentsOf: url) : nil, size: attributes[.size] as? Int,
                modified: attributes[.modificationDate] as? Date)
        }
    }

    struct FileState: Equatable {
        let content: Data?
        let size: Int?
        let modified: Date?
    }
}

/// Records the requests that a context sends.
actor RequestRecorder: HTTPMiddleware {
    private(set) var requests: [String] = []

    func removeAll() { requests = [] }

    func intercept(
        _ request: HTTPTransportRequest, next: HTTPMiddlewareNext
    ) async throws -> HTTPTransportResponse {
        let fields: [String] =
            if let body = request.body, case .object(let members)? = try? ItemValue(json: body) {
                members.keys.filter { $0 != "id" }.sorted()
            } else {
                []
            }
        requests.append("\(request.head.method.rawValue) \(request.head.path ?? "") \(fields)")
        return try await next(request)
    }
}
