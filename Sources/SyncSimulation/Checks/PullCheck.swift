// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// After a pull that succeeded, no row of the server is missing.
extension SimulatedSystem {
    /// Pulls, and checks that every row which did not change meanwhile is stored.
    ///
    /// - Parameter matches: whether the pull requests the row.
    func checkingRows(
        of table: SyncTableDefinition, _ device: SimulatedDevice,
        where matches: (ModelServer.Row) -> Bool = { _ in true },
        _ pull: () async throws -> Void
    ) async throws {
        let before = server.rows(of: table.name)
        let removals = device.state.withLock { $0.removalCount }
        try await pull()
        // An old page of a cache does not show the newest rows. Without a steady clock, another pull can have stored a state
        // that seems to be later. The app can remove rows while it pulls.
        guard !server.traits.hasUnsteadyClock, app.tables.contains(table),
            device.state.withLock({ $0.removalCount == removals && !$0.needsWholePull })
        else { return }
        for row in server.rows(of: table.name).values where before[row.id] == row && matches(row) {
            // A pull of a table that changes faster than it is read ends before rows of the future.
            if try row.isFuture || isStored(row, of: table, device) { continue }
            let item = try? device.disk.store.read { try $0.item(id: row.id, in: table.name) }
            fail(
                .completeness,
                "\(device.name): a pull succeeded, and the state of row \(row.id) of version \(row.version) is not stored, "
                    + "but \(item.map { "version \($0.system.version ?? "-")" } ?? "no item").")
        }
    }

    /// Whether the device has the row, or a pending change of it.
    private func isStored(
        _ row: ModelServer.Row, of table: SyncTableDefinition, _ device: SimulatedDevice
    ) throws -> Bool {
        let key = RowKey(table: table.name, id: row.id)
        let isExcepted = device.state.withLock { $0.unqueued.contains(key) || $0.partial.contains(key) }
        if isExcepted || isUnreadable(row, table) { return true }
        let store = device.disk.store
        guard store.catalog.tables.contains(table) else { return true }
        return try store.read { snapshot in
            guard try snapshot.operations(forItem: row.id, in: table.name).isEmpty else { return true }
            let item = try snapshot.item(id: row.id, in: table.name)
            return row.isDeleted ? item == nil : item.map { isShown($0, as: row, table) } ?? false
        }
    }
}
