// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import Synchronization
import Testing

@testable import SyncCore

/// Observers read again when the app queues rows that it has written without the context.
@Suite struct EnqueuedChangeSignalTests {
    private let store: MemoryStore
    private let context: SyncContext

    init() throws {
        store = try MemoryStore(tables: [SyncTableDefinition("T", columns: [SyncColumn("a", .integer)])])
        context = SyncContext(
            client: try SyncClient.scripted(ScriptedTransport(200)), dataSource: store, environment: .inline)
    }

    /// Returns whether an observer of the table is told during the body that its rows may have changed.
    private func isSignalled(_ body: () async throws -> Void) async throws -> Bool {
        let hasChanged = Mutex(false)
        let signals = context.commits.signals(of: [.table("T")]) { changes in
            hasChanged.withLock { $0 = $0 || changes.change(of: "T") != nil }
            return true
        }
        try await body()
        return withExtendedLifetime(signals) { hasChanged.withLock { $0 } }
    }

    @Test func `a deletion that leaves nothing to push is signalled`() async throws {
        let item = try await context.table("T").insert(["a": 1])
        try store.write { try $0.deleteItems(ids: [item.id], in: "T") }
        let isSignalled = try await isSignalled {
            try await context.enqueueExternalChanges(in: "T", deleted: [item])
        }
        #expect(isSignalled)
        #expect(try await context.pendingOperationCount() == 0)
    }

    @Test func `changes and existing rows are signalled when they are queued`() async throws {
        try store.write { try $0.upsert([Item(id: "x", fields: ["a": 1])], in: "T") }
        #expect(try await isSignalled { try await context.enqueueExisting(TableQuery("T")) })
        try store.write { try $0.upsert([Item(id: "x", fields: ["a": 2])], in: "T") }
        #expect(try await isSignalled { try await context.enqueueExternalChanges(in: "T", changed: ["x"]) })
    }
}
