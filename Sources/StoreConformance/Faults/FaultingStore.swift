// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore
import Synchronization

/// A store wrapper that injects faults, for testing code that uses a store and for testing stores.
///
/// ```swift
/// let store = FaultingStore(try MemoryStore(tables: tables))
/// store.faults.failingChange = 3
/// ```
///
/// Changes are the calls of ``/SyncCore/StoreTransaction`` that change something; lookups are those of
/// ``/SyncCore/StoreSnapshot``. Changes, lookups, writes and reads are counted from 1 over the lifetime of the wrapper.
/// Without faults the wrapper changes nothing.
public final class FaultingStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let state = Mutex(State())

    /// The faults to inject.
    public struct Faults: Sendable {
        /// The number of the change that throws instead of being made.
        public var failingChange: Int?
        /// The number of the write that throws after its body has returned, and is rolled back.
        public var failingCommit: Int?
        /// The number of the write that is committed and then throws, like a commit whose response is lost.
        public var failingAfterCommit: Int?
        /// The number of the read that throws before its body runs.
        public var failingRead: Int?
        /// The number of the call inside the bodies of reads and writes that reads something, and throws instead.
        public var failingLookup: Int?
        /// The error to throw.
        public var error: any Error = StoreError(.inputOutput, "An injected fault.")
        /// The error to throw after a commit.
        public var errorAfterCommit: any Error = StoreError(
            .outcomeUnknown, "An injected fault after the commit.")

        /// Creates a set without faults.
        public init() {}
    }

    /// The number of calls by kind.
    public struct Calls: Sendable, Hashable {
        /// The number of read transactions.
        public var reads = 0
        /// The number of write transactions.
        public var writes = 0
        /// The number of changes in all transactions.
        public var changes = 0
    }

    private struct State: Sendable {
        var faults = Faults()
        var calls = Calls()
        var lookups = 0
        var latency: (@Sendable () -> Void)?
        var onChange: (@Sendable (Int) -> Void)?
    }

    /// Wraps a store.
    public init(_ base: any SyncContextDataSource) { self.base = base }

    /// The faults to inject from now on.
    public var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// The number of calls so far.
    public var calls: Calls { state.withLock { $0.calls } }

    /// Runs before every transaction, for example to simulate latency.
    public var latency: (@Sendable () -> Void)? {
        get { state.withLock { $0.latency } }
        set { state.withLock { $0.latency = newValue } }
    }

    /// Runs before every change with its number; may end the process.
    public var onChange: (@Sendable (Int) -> Void)? {
        get { state.withLock { $0.onChange } }
        set { state.withLock { $0.onChange = newValue } }
    }

    /// The catalog of the base store.
    public var catalog: TableCatalog { base.catalog }

    /// The capabilities of the base store.
    public var capabilities: StoreCapabilities { base.capabilities }

    /// Reads from the base store, or throws if this read is set to fail.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        latency?()
        try state.withLock { state in
            state.calls.reads += 1
            if state.calls.reads == state.faults.failingRead { throw state.faults.error }
        }
        return try base.read { try body(FaultingSnapshot(base: $0, store: self)) }
    }

    /// Writes to the base store, or throws if this write or one of its changes is set to fail.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        latency?()
        let number = state.withLock { state in
            state.calls.writes += 1
            return state.calls.writes
        }
        let result = try base.write { transaction in
            let result = try body(FaultingTransaction(base: transaction, store: self))
            try fail { $0.failingCommit == number }
            return result
        }
        let faults = faults
        if faults.failingAfterCommit == number { throw faults.errorAfterCommit }
        return result
    }

    /// Registers the handler with the base store.
    public func onExternalCommit(_ handler: @escaping @Sendable () -> Void) { base.onExternalCommit(handler) }

    /// Acquires the push lock of the base store.
    public func tryLockPush() throws -> (any StorePushLock)? { try base.tryLockPush() }

    /// Acquires the sync lock of the base store.
    public func tryLockSync() throws -> (any StorePushLock)? { try base.tryLockSync() }

    /// Closes the base store.
    public func close() throws { try base.close() }

    fileprivate func countChange() throws {
        let number = state.withLock { state in
            state.calls.changes += 1
            return state.calls.changes
        }
        onChange?(number)
        try fail { $0.failingChange == number }
    }

    fileprivate func countLookup() throws {
        try state.withLock { state in
            state.lookups += 1
            if state.lookups == state.faults.failingLookup { throw state.faults.error }
        }
    }

    private func fail(if isFaulty: (Faults) -> Bool) throws {
        let faults = faults
        if isFaulty(faults) { throw faults.error }
    }
}

extension FaultingStore: StoreWithTriggers {
    package var isInAppDatabase: Bool { (base as? any StoreWithTriggers)?.isInAppDatabase ?? false }
    package var references: [String: Set<String>] { (base as? any StoreWithTriggers)?.references ?? [:] }

    /// Registers the handler with the base store if it can have triggers.
    package func onOwnCommit(_ handler: @escaping @Sendable () -> Void) {
        (base as? any StoreWithTriggers)?.onOwnCommit(handler)
    }

    package func usePerformedInserts(_ ids: @escaping @Sendable () -> Set<Int64>) {
        (base as? any StoreWithTriggers)?.usePerformedInserts(ids)
    }
}

/// A snapshot whose lookups can fail.
private struct FaultingSnapshot: ForwardingSnapshot {
    let base: any StoreSnapshot
    let store: FaultingStore

    var snapshot: any StoreSnapshot {
        get throws {
            try store.countLookup()
            return base
        }
    }
}

private struct FaultingTransaction: StoreTransaction, ForwardingSnapshot {
    let base: any StoreTransaction
    let store: FaultingStore

    var snapshot: any StoreSnapshot {
        get throws {
            try store.countLookup()
            return base
        }
    }

    func lastOperationID() throws -> Int64 { try base.lastOperationID() }

    func insert(_ item: Item, in table: String) throws -> Bool {
        try store.countChange()
        return try base.insert(item, in: table)
    }

    func upsert(_ items: [Item], in table: String) throws {
        try store.countChange()
        try base.upsert(items, in: table)
    }

    func deleteItems(ids: [String], in table: String) throws {
        try store.countChange()
        try base.deleteItems(ids: ids, in: table)
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        try store.countChange()
        return try base.deleteItems(matching: query)
    }

    func put(_ operation: TableOperation) throws {
        try store.countChange()
        try base.put(operation)
    }

    func removeOperation(id: Int64) throws {
        try store.countChange()
        try base.removeOperation(id: id)
    }

    func put(_ error: TableOperationError) throws {
        try store.countChange()
        try base.put(error)
    }

    func removeOperationError(operationID: Int64) throws {
        try store.countChange()
        try base.removeOperationError(operationID: operationID)
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        try store.countChange()
        try base.setConfigValue(value, for: key)
    }

    func externalCommitStamp() throws -> Int64 { try base.externalCommitStamp() }
}
