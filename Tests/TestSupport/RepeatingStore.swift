// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

/// A store that runs each body twice, as a store on a server does after a lost connection: what the first run of a write has
/// changed is rolled back.
package final class RepeatingStore: SyncContextDataSource {
    private struct Rollback: Error {}

    private let base: any SyncContextDataSource

    package init(_ base: any SyncContextDataSource) { self.base = base }

    package var catalog: TableCatalog { base.catalog }
    package var capabilities: StoreCapabilities { base.capabilities }

    package func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        _ = try base.read(body)
        return try base.read(body)
    }

    package func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        do {
            try base.write { transaction in
                _ = try body(transaction)
                throw Rollback()
            }
        } catch is Rollback {}
        return try base.write(body)
    }

    package func close() throws { try base.close() }
}
