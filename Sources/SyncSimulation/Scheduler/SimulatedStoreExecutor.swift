// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Runs a store's calls as jobs of the scheduler; writes keep their order.
final class SimulatedStoreExecutor: StoreExecutor {
    private let scheduler: SimulationScheduler
    private let writes = Mutex<[@Sendable () -> Void]>([])

    init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }

    func read(_ work: @escaping @Sendable () -> Void) { scheduler.enqueue(work) }

    func write(_ work: @escaping @Sendable () -> Void) {
        writes.withLock { $0.append(work) }
        scheduler.enqueue { [self] in writes.withLock { $0.removeFirst() }() }
    }
}
