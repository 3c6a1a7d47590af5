// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A store that may be in a database of the app, whose triggers, foreign keys and default values may change more items than a
/// write of the store.
package protocol StoreWithTriggers: SyncContextDataSource {
    /// Whether the store is in a database of the app, and not in a file that it has opened itself.
    var isInAppDatabase: Bool { get }

    /// For each table, the tables to which its foreign keys refer; empty outside of a database of the app.
    var references: [String: Set<String>] { get }

    /// Calls the handler after each commit of ``SyncContextDataSource/write(_:)`` that changed items or operations. The handler
    /// returns immediately, and may be called on any thread.
    func onOwnCommit(_ handler: @escaping @Sendable () -> Void)

    /// Tells the store which inserts a delegate is performing, for deletions that the app enqueues in its own transactions.
    ///
    /// - Parameter ids: returns the ids of their operations now.
    func usePerformedInserts(_ ids: @escaping @Sendable () -> Set<Int64>)
}

extension SyncContextDataSource {
    /// The tables in the order in which their items can be removed, as far as there is one.
    var tablesChildrenFirst: [SyncTableDefinition] {
        catalog.childrenFirst((self as? any StoreWithTriggers)?.references ?? [:])
    }
}
