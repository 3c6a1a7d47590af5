// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreMemory
import SyncCore

/// The requests of the next push, if the server accepts every change, and the operations that it does not send.
///
/// The framework itself pushes a copy of the queue to an ``AcceptingServer``, so that this cannot differ from a push.
struct NextPush: Sendable {
    let dialect: WireDialect
    let requests: [PlannedPushRequest]
    let unsent: [UnsentOperation]

    init(of state: StoreState, dialect: WireDialect) async throws {
        let server = AcceptingServer(dialect: dialect)
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        let store = try state.copy()
        let context = SyncContext(
            client: SyncClient(
                url: URL(string: "http://localhost") ?? URL(filePath: "/"), transport: server,
                dialect: dialect),
            dataSource: store, delegate: RequestLabels(), settings: settings)
        let result: PushResult
        do {
            result = try await context.push()
        } catch let error as SyncError {
            guard let pushResult = error.pushResult else { throw error }
            result = pushResult
        }
        try await context.close()
        self.dialect = dialect
        requests = server.requests.withoutRequestsAfterReads
        let written = Set(requests.filter { !$0.isRead }.map(\.operation))
        let read = Set(requests.filter(\.isRead).map(\.operation))
        let errors = Dictionary(result.errors.map { ($0.operationID, $0) }) { first, _ in first }
        var first: [Int64: TableOperation] = [:]
        unsent = state.operations.compactMap { operation in
            guard !written.contains(operation.id) else { return nil }
            for behind in state.operationsBehind[operation.id] ?? [] where first[behind.id] == nil {
                first[behind.id] = operation
            }
            return UnsentOperation(
                operation, behind: first[operation.id], isRead: read.contains(operation.id),
                error: errors[operation.id], unreadable: state.unreadableItems[operation.id])
        }
    }
}

/// Names the operation of each request for the server.
private struct RequestLabels: SyncContextDelegate {
    func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item? {
        try await AcceptingServer.$operation.withValue(operation.operation) {
            _ = try await operation.execute()
        }
        return nil
    }
}

extension StoreState {
    /// Returns a store in memory with the operations, their items and errors, and the config values.
    fileprivate func copy() throws -> MemoryStore {
        let store = try MemoryStore(tables: catalog.tables)
        try store.write { transaction in
            for operation in operations {
                var operation = operation
                // Other operations wait for it, as they do when the push cannot read the item.
                if unreadableItems[operation.id] != nil { operation.state = .parked }
                try transaction.put(operation)
                if let item = items[operation.id] { try transaction.upsert([item], in: operation.table) }
            }
            for error in errors { try transaction.put(error) }
            for (key, value) in configValues { try transaction.setConfigValue(value, for: key) }
        }
        return store
    }
}

extension [PlannedPushRequest] {
    /// What follows a read depends on the server's row.
    fileprivate var withoutRequestsAfterReads: [PlannedPushRequest] {
        var read: Set<Int64> = []
        return filter { request in
            !read.contains(request.operation) && (!request.isRead || read.insert(request.operation).inserted)
        }
    }
}
