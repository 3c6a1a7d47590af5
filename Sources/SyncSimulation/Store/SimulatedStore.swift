// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The store as one process sees it: its calls fail or crash the process when a fault says so, and always after its end.
final class SimulatedStore: SyncContextDataSource {
    let process: Int
    private let disk: SimulatedDisk
    private let base: any SyncContextDataSource
    private let state = Mutex(State())
    private let events: Events

    private struct State {
        var hasEnded = false
        var fault: StoreFault?

        /// Counts a call, or a commit, and removes and returns the fault that happens now.
        mutating func nextFault(isCommit: Bool) -> StoreFault.Kind? {
            guard let kind = fault?.kind, isCommit == kind.isOfCommit else { return nil }
            fault?.calls -= 1
            guard fault?.calls ?? 0 < 0 else { return nil }
            fault = nil
            return kind
        }
    }

    /// What a store tells the simulation.
    struct Events: Sendable {
        /// Called inside the transaction, before its body.
        var willWrite: @Sendable () -> Void = {}
        /// Called after each commit, with its state and what it has written.
        var didCommit: @Sendable (any StoreSnapshot, WrittenKeys) -> Void = { _, _ in }
        /// Called when a fault happens; for a crash, the process has ended.
        var didFail: @Sendable (StoreFault.Kind) -> Void = { _ in }
    }

    init(_ disk: SimulatedDisk, process: Int, events: Events) {
        (self.disk, self.process, self.events) = (disk, process, events)
        base = disk.store
    }

    var catalog: TableCatalog { base.catalog }

    var capabilities: StoreCapabilities {
        var capabilities = base.capabilities
        capabilities.isMultiProcess = disk.isShared
        return capabilities
    }

    /// Makes a later call fail.
    func inject(_ next: StoreFault) { state.withLock { $0.fault = next } }

    /// Ends all faults.
    func heal() { state.withLock { $0.fault = nil } }

    /// Ends the process: no call succeeds from now on.
    func end() {
        state.withLock { $0.hasEnded = true }
        disk.processEnded(process)
    }

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try willCall()
        return try base.read(body)
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try willCall()
        events.willWrite()
        let (result, written, fault) = try base.write { base in
            let transaction = SimulatedTransaction(base: base, store: self)
            let result = try body(transaction)
            let fault = state.withLock { $0.nextFault(isCommit: true) }
            if fault == .failedCommit || fault == .lostCommit { try fail(fault) }
            return (result, transaction.written, fault)
        }
        try base.read { events.didCommit($0, written) }
        if disk.isShared, !written.isEmpty { disk.didCommit(process) }
        try fail(fault)
        return result
    }

    func onExternalCommit(_ handler: @escaping @Sendable () -> Void) {
        disk.onCommit(besides: process, handler)
    }

    func tryLockPush() throws -> (any StorePushLock)? {
        try willCall()
        guard disk.isShared else { return PushLock(disk: nil, process: process) }
        return disk.tryLockPush(process) ? PushLock(disk: disk, process: process) : nil
    }

    /// Does not count as a call: the simulation acquires only push locks.
    func tryLockSync() throws -> (any StorePushLock)? {
        if hasEnded { throw processEnded }
        return UnsharedPushLock()
    }

    func close() throws { end() }

    /// The commits of other processes, for stores that processes share.
    var externalCommits: Int64 { Int64(disk.commits(besides: process)) }

    /// Throws if the process has ended, or a fault makes this call fail.
    func willCall() throws {
        let (hasEnded, fault) = state.withLock { state in
            (state.hasEnded, state.hasEnded ? nil : state.nextFault(isCommit: false))
        }
        if hasEnded { throw processEnded }
        try fail(fault)
    }

    private var processEnded: StoreError { StoreError(.closed, "The process has ended.") }

    /// Lets a fault happen, if there is one.
    private func fail(_ fault: StoreFault.Kind?) throws {
        guard let fault else { return }
        if fault.endsProcess { end() }
        events.didFail(fault)
        switch fault {
        case .crash, .crashAfterCommit: throw StoreError(.closed, "The process has crashed.")
        case .failure, .failedCommit: throw StoreError(.inputOutput, "The simulated disk failed.")
        case .unconfirmedCommit, .lostCommit:
            throw StoreError(.outcomeUnknown, "The simulated disk has not confirmed the commit.")
        }
    }

    private struct PushLock: StorePushLock {
        let disk: SimulatedDisk?
        let process: Int

        func release() { disk?.unlockPush(process) }
    }
}
