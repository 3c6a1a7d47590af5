// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore
import Synchronization

/// A store that fails where it is told to: for testing what uses a store, and for testing stores.
///
/// ```swift
/// let store = FaultingStore(try MemoryStore(tables: tables))
/// store.faults.failingChange = 3
/// ```
///
/// Changes are the calls of ``/SyncCore/StoreTransaction`` that change something; they are counted from 1 over the
/// whole life of the wrapper, as are writes and reads. Without faults the wrapper changes nothing.
public final class FaultingStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let state = Mutex(State())

    /// What goes wrong, and when.
    public struct Faults: Sendable {
        /// The change that throws instead of being made.
        public var failingChange: Int?
        /// The write that throws when its body has returned; nothing of it is kept.
        public var failingCommit: Int?
        /// The write that is committed, and then throws all the same: an answer that was lost.
        public var failingAfterCommit: Int?
        /// The read that throws before its body runs.
        public var failingRead: Int?
        /// What is thrown.
        public var error: any Error = StoreError(.inputOutput, "An injected fault.")

        /// No faults.
        public init() {}
    }

    /// How often each kind of call was made.
    public struct Calls: Sendable, Hashable {
        /// Transactions for reading.
        public var reads = 0
        /// Transactions for writing.
        public var writes = 0
        /// Changes in all of them.
        public var changes = 0
    }

    private struct State: Sendable {
        var faults = Faults()
        var calls = Calls()
        var latency: (@Sendable () -> Void)?
        var onChange: (@Sendable (Int) -> Void)?
    }

    /// Wraps a store.
    public init(_ base: any SyncContextDataSource) { self.base = base }

    /// What goes wrong from now on.
    public var faults: Faults {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// What was called so far.
    public var calls: Calls { state.withLock { $0.calls } }

    /// Runs before every transaction, for example to block for a while.
    public var latency: (@Sendable () -> Void)? {
        get { state.withLock { $0.latency } }
        set { state.withLock { $0.latency = newValue } }
    }

    /// Runs before every change, with its number; it may end the process.
    public var onChange: (@Sendable (Int) -> Void)? {
        get { state.withLock { $0.onChange } }
        set { state.withLock { $0.onChange = newValue } }
    }

    /// The base's.
    public var catalog: TableCatalog { base.catalog }

    /// The base's.
    public var capabilities: StoreCapabilities { base.capabilities }

    /// Reads from the base, unless this read is to fail.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        latency?()
        try state.withLock { state in
            state.calls.reads += 1
            if state.calls.reads == state.faults.failingRead { throw state.faults.error }
        }
        return try base.read(body)
    }

    /// Writes to the base, unless something in this write is to fail.
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
        try fail { $0.failingAfterCommit == number }
        return result
    }

    /// Passes the handler on.
    public func onExternalCommit(_ handler: @escaping @Sendable () -> Void) { base.onExternalCommit(handler) }

    /// Takes the base's lock.
    public func tryLockPush() throws -> (any StorePushLock)? { try base.tryLockPush() }

    /// Closes the base.
    public func close() throws { try base.close() }

    fileprivate func change() throws {
        let number = state.withLock { state in
            state.calls.changes += 1
            return state.calls.changes
        }
        onChange?(number)
        try fail { $0.failingChange == number }
    }

    private func fail(if isDue: (Faults) -> Bool) throws {
        let faults = faults
        if isDue(faults) { throw faults.error }
    }
}

private struct FaultingTransaction: StoreTransaction, ForwardingSnapshot {
    let base: any StoreTransaction
    let store: FaultingStore
    var snapshot: any StoreSnapshot { base }

    func lastOperationID() throws -> Int64 { try base.lastOperationID() }

    func insert(_ item: Item, in table: String) throws -> Bool {
        try store.change()
        return try base.insert(item, in: table)
    }

    func upsert(_ items: [Item], in table: String) throws {
        try store.change()
        try base.upsert(items, in: table)
    }

    func deleteItems(ids: [String], in table: String) throws {
        try store.change()
        try base.deleteItems(ids: ids, in: table)
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        try store.change()
        return try base.deleteItems(matching: query)
    }

    func put(_ operation: TableOperation) throws {
        try store.change()
        try base.put(operation)
    }

    func removeOperation(id: Int64) throws {
        try store.change()
        try base.removeOperation(id: id)
    }

    func put(_ error: TableOperationError) throws {
        try store.change()
        try base.put(error)
    }

    func removeOperationError(operationID: Int64) throws {
        try store.change()
        try base.removeOperationError(operationID: operationID)
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        try store.change()
        try base.setConfigValue(value, for: key)
    }

    func externalCommitStamp() throws -> Int64 { try base.externalCommitStamp() }
}
