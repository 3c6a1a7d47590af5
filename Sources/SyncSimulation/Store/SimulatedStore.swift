// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The store as one process sees it: its calls fail or crash the process when a fault says so, and always after its end.
final class SimulatedStore: SyncContextDataSource {
    let process: Int
    private let disk: SimulatedDisk
    private let base: any SyncContextDataSource
    private let isEnded = Mutex(false)
    private let fault = Mutex<StoreFault?>(nil)
    private let events: Events

    /// What a store tells the simulation.
    struct Events: Sendable {
        /// Called inside the transaction, before its body.
        var willWrite: @Sendable () -> Void = {}
        /// Called after each commit, with its state.
        var didCommit: @Sendable (any StoreSnapshot) -> Void = { _ in }
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
    func inject(_ next: StoreFault) { fault.withLock { $0 = next } }

    /// Ends all faults.
    func heal() { fault.withLock { $0 = nil } }

    /// Ends the process: no call succeeds from now on.
    func end() {
        isEnded.withLock { $0 = true }
        disk.processEnded(process)
    }

    var hasEnded: Bool { isEnded.withLock { $0 } }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try willCall()
        return try base.read(body)
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try willCall()
        events.willWrite()
        let result = try base.write { try body(SimulatedTransaction(base: $0, store: self)) }
        try base.read { events.didCommit($0) }
        if disk.isShared { disk.didCommit(process) }
        if isReached(of: [.crashAfterCommit]) { try crash(.crashAfterCommit) }
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

    func close() throws { end() }

    /// The commits of other processes, for stores that processes share.
    var externalCommits: Int64 { Int64(disk.commits(besides: process)) }

    /// Throws if the process has ended, or a fault makes this call fail.
    func willCall() throws {
        if hasEnded { throw StoreError(.closed, "The process has ended.") }
        guard isReached(of: [.failure, .crash]), let kind = takeFault()?.kind else { return }
        if kind == .crash { try crash(kind) }
        events.didFail(kind)
        throw StoreError(.inputOutput, "The simulated disk failed.")
    }

    /// Counts a call, and returns whether the fault happens now.
    private func isReached(of kinds: Set<StoreFault.Kind>) -> Bool {
        fault.withLock { fault in
            guard let kind = fault?.kind, kinds.contains(kind) else { return false }
            fault?.calls -= 1
            return fault?.calls ?? 0 < 0
        }
    }

    private func takeFault() -> StoreFault? {
        fault.withLock { fault in
            defer { fault = nil }
            return fault
        }
    }

    private func crash(_ kind: StoreFault.Kind) throws -> Never {
        end()
        events.didFail(kind)
        throw StoreError(.closed, "The process has crashed.")
    }

    private struct PushLock: StorePushLock {
        let disk: SimulatedDisk?
        let process: Int

        func release() { disk?.unlockPush(process) }
    }
}
