// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StoreSQLite
import SyncCore
import Synchronization
import TableServer
import Testing

/// The locks of a shared store, whose calls may wait for a server.
@Suite struct StoreLockTests {
    @Test(arguments: [true, false])
    func `the push lock is acquired and released by the store executor, also when a push fails`(
        _ fails: Bool
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let store = RecordingLockStore(try scenario.sharedStore())
            let a = scenario.device(on: store, settings: .singleAttempt) { $0.executor = QueueExecutor() }
            try await a.table.insert(["id": "x"])
            if fails { scenario.server.inject(.refusal(400), when: \.isWrite) }
            do {
                try await a.context.push()
            } catch let error as SyncError where fails && error.code == .pushCompletedWithErrors {}
            let calls = store.calls
            #expect(calls.map(\.name) == ["lock", "release"])
            #expect(calls.map(\.isInExecutor) == [true, true])
            let lock = try store.tryLockPush()
            try #require(lock).release()
            try await a.context.purge(Todo.query, pending: .discard)
            #expect(store.calls.suffix(2).map(\.isInExecutor) == [true, true])
            try await a.context.close()
        }
    }
}

/// Runs reads and writes on one queue.
private struct QueueExecutor: StoreExecutor {
    static let key = DispatchSpecificKey<Bool>()
    private let queue = DispatchQueue(label: "store")

    init() { queue.setSpecific(key: Self.key, value: true) }

    func read(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
    func write(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}

/// Records where the push lock is acquired and released.
private final class RecordingLockStore: SyncContextDataSource {
    struct Call {
        let name: String
        let isInExecutor: Bool
    }

    private struct Lock: StorePushLock {
        let base: any StorePushLock
        let store: RecordingLockStore

        func release() {
            store.record("release")
            base.release()
        }
    }

    private let base: SQLiteStore
    private let recorded = Mutex<[Call]>([])

    init(_ base: SQLiteStore) { self.base = base }

    var calls: [Call] { recorded.withLock(\.self) }

    private func record(_ name: String) {
        let isInExecutor = DispatchQueue.getSpecific(key: QueueExecutor.key) ?? false
        recorded.withLock { $0.append(Call(name: name, isInExecutor: isInExecutor)) }
    }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try base.read(body) }
    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T { try base.write(body) }
    func tryLockSync() throws -> (any StorePushLock)? { try base.tryLockSync() }

    func tryLockPush() throws -> (any StorePushLock)? {
        record("lock")
        return try base.tryLockPush().map { Lock(base: $0, store: self) }
    }

    func close() throws { try base.close() }
}
