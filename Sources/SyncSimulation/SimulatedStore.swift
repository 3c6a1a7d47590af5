// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A store that outlives crashes of its process, and fails calls of a process that has crashed.
final class SimulatedStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let isDead = Mutex(false)
    /// The call after which the process crashes; `nil` never.
    private let callsLeft: Mutex<Int?>
    private let onCommit: @Sendable (any StoreSnapshot) -> Void

    init(
        _ base: any SyncContextDataSource, crashingAfter calls: Int? = nil,
        onCommit: @escaping @Sendable (any StoreSnapshot) -> Void
    ) {
        self.base = base
        callsLeft = Mutex(calls)
        self.onCommit = onCommit
    }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    /// Ends the process: no call succeeds from now on.
    func kill() { isDead.withLock { $0 = true } }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try requireAlive()
        return try base.read(body)
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try requireAlive()
        let result = try base.write(body)
        try base.read { onCommit($0) }
        return result
    }

    func close() throws { kill() }

    private func requireAlive() throws {
        if isDead.withLock({ $0 }) { throw StoreError(.closed, "The process has crashed.") }
    }
}
