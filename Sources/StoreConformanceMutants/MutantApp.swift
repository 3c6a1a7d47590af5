// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The simulated app of one store: it makes commits in the base store, and reports them to the handlers of the mutant.
final class MutantApp: Sendable {
    private let handlers = Mutex<[@Sendable () -> Void]>([])

    func add(_ handler: @escaping @Sendable () -> Void) { handlers.withLock { $0.append(handler) } }

    /// Adds an item to the base store, and reports the commit.
    func addItem(_ id: String, to base: any SyncContextDataSource) throws {
        try base.write { try $0.upsert([Item(id: id)], in: "Thing") }
        report()
    }

    /// Calls the handlers.
    func report() {
        for handler in handlers.withLock({ $0 }) { handler() }
    }
}
