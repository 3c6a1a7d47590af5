// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import Testing

@testable import TableServer

@Suite
struct StopOrderTests {
    private static let table = TableServer.Table("TodoItem")

    /// A storage whose write waits until the storage is interrupted, and whose interruption waits for what the client reads.
    private final class InterruptedStorage: RowStorage {
        private struct Interrupted: Error {}

        private let base: SQLiteRowStorage
        private let waiting = Mutex<CheckedContinuation<Void, any Error>?>(nil)
        private let connection = Mutex<RawConnection?>(nil)
        private let response = Mutex<String?>(nil)
        private let arrivals = AsyncStream.makeStream(of: Void.self)

        init(_ settings: RowStampSettings) throws {
            base = try SQLiteRowStorage(path: nil, tables: [StopOrderTests.table], settings: settings)
        }

        var changes: TableChanges { base.changes }
        var hasUnreportedChanges: Bool { false }
        /// What the client had read when the interruption ended.
        var readResponse: String? { response.withLock { $0 } }

        func waitForWrite(of client: RawConnection) async {
            connection.withLock { $0 = client }
            for await _ in arrivals.stream { return }
        }

        func read<Result: Sendable>(
            _ scope: RowScope, hasSeveralStatements: Bool,
            _ body: @escaping @Sendable (any RowReader) throws -> Result
        ) async throws -> Result { try await base.read(scope, body) }

        func readNow<Result>(_ scope: RowScope, _ body: (any RowReader) throws -> Result) throws -> Result {
            try base.readNow(scope, body)
        }

        func write<Result: Sendable>(
            _ scope: RowScope, _ body: @escaping @Sendable (any RowWriter) throws -> Result
        ) async throws -> Result {
            try await withCheckedThrowingContinuation { continuation in
                waiting.withLock { $0 = continuation }
                arrivals.continuation.yield()
            }
            return try await base.write(scope, body)
        }

        func interrupt() {
            waiting.withLock { $0.take() }?.resume(throwing: Interrupted())
            let client = connection.withLock { $0 }
            response.withLock { $0 = client?.readBlocking() }
        }

        func lastChanges() async throws -> [String: String] { try await base.lastChanges() }
        func check() async throws { try await base.check() }
        func close() { base.close() }
    }

    @Test func `a request that a stop interrupts gets no response`() async throws {
        let configuration = TableServer.Configuration(tables: [Self.table])
        let storage = try InterruptedStorage(RowStampSettings(configuration))
        let database = RowDatabase(identity: "interrupted") { _, _ in storage }
        let server = try await TableServer.start(
            configuration: .init(tables: [Self.table], storage: .database(database)))
        let client = try RawConnection(port: try #require(server.url.port))
        let head = [
            "POST /tables/TodoItem HTTP/1.1", "Host: a", "ZUMO-API-VERSION: 2.0.0", "Content-Length: 10",
        ]
        try client.send(head.joined(separator: "\r\n") + "\r\n\r\n" + #"{"id":"a"}"#)
        await storage.waitForWrite(of: client)
        await server.stop()
        #expect(storage.readResponse?.isEmpty == true)
    }
}
