// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A state of the server's row that is stored with an operation made on another one.
struct StoredConflict: Hashable {
    let operationID: Int64
    let serverItem: Item

    init?(_ operation: TableOperation) {
        guard let row = operation.serverItem else { return nil }
        (operationID, serverItem) = (operation.id, row)
    }
}

/// The resolver is called for the conflicts of every page that a pull stores, also if the request of the next page fails.
extension SimulatedSystem {
    /// Records the conflicts that pushes have stored: with an operation whose predecessor they have completed.
    func recordConflictsOfPushes(_ operations: [TableOperation], _ device: SimulatedDevice) {
        let rows = Dictionary(grouping: operations) { RowKey(table: $0.table, id: $0.itemID) }
        device.state.withLock { state in
            let first = rows.values.compactMap(\.first).filter { state.operationsBehind.contains($0.id) }
            state.conflictsOfPushes.formUnion(first.compactMap(StoredConflict.init))
            state.operationsBehind = Set(rows.values.flatMap { $0.dropFirst().map(\.id) })
        }
    }

    /// Performs an act that sends requests, and checks the conflicts that a failed pull leaves behind.
    func checkingResolver(
        _ device: SimulatedDevice, _ process: SimulatedProcess, _ act: () async throws -> Void
    ) async throws {
        // An act may retry a parked operation, whose conflict is then not a new one.
        let before = try storedConflicts(on: device)
        let wasAlone = device.state.withLock { state in
            state.syncCount += 1
            state.runningSyncs += 1
            return state.runningSyncs == 1
        }
        let count = device.state.withLock { $0.syncCount }
        let editCount = device.history.snapshot.edits.count
        defer { device.state.withLock { $0.runningSyncs -= 1 } }
        do { try await act() } catch let error as SyncError where error.code == .pullAborted {
            // Another push or pull resolves the conflicts that it finds.
            let isAlone = device.state.withLock { $0.syncCount == count && $0.hasDecidingResolver }
            if wasAlone, isAlone, process.sync == nil, !device.disk.isShared, !process.store.hasEnded {
                let edits = device.history.snapshot.edits.dropFirst(editCount)
                for conflict in try undecidedConflicts(on: device, without: edits).subtracting(before) {
                    fail(
                        .resolver,
                        "\(device.name): a pull found a conflict of operation \(conflict.operationID), and did not call the "
                            + "resolver.")
                }
            }
            throw error
        }
    }

    private func storedConflicts(on device: SimulatedDevice) throws -> Set<StoredConflict> {
        let operations = try device.disk.store.read { try $0.operations(after: 0, in: nil, limit: .max) }
        return Set(operations.compactMap(StoredConflict.init))
    }

    /// Returns the conflicts that a pull has to decide, and not a push: the one before the pull stores a row too, with an
    /// operation whose attempt has no outcome or that it reports. An edit of a column that the app does not declare any more is
    /// not sent, and is no conflict; nor is one of a table that it does not declare.
    ///
    /// - Parameter edits: those since the act began: the pull can have stored its page before them.
    private func undecidedConflicts(
        on device: SimulatedDevice, without edits: ArraySlice<Edit>
    ) throws -> Set<StoredConflict> {
        let catalog = device.disk.store.catalog
        return try device.disk.store.read { snapshot in
            let operations = try snapshot.operations(after: 0, in: nil, limit: .max).filter { operation in
                try operation.state == .pending && catalog.contains(operation.table)
                    && snapshot.operationError(operationID: operation.id) == nil
                    && hasEdit(operation, snapshot, device, without: edits)
            }
            return Set(operations.compactMap(StoredConflict.init))
        }.subtracting(device.state.withLock(\.conflictsOfPushes))
    }

    /// Whether a declared column of the item differs from the row on which an update was made.
    private func hasEdit(
        _ operation: TableOperation, _ snapshot: any StoreSnapshot, _ device: SimulatedDevice,
        without edits: ArraySlice<Edit>
    ) throws -> Bool {
        let key = RowKey(table: operation.table, id: operation.itemID)
        let recent = edits.filter { $0.key == key }
        let item = try snapshot.item(id: operation.itemID, in: operation.table)
        // The app has removed the item from its table, and has not queued the deletion yet.
        if item == nil, operation.kind != .delete { return false }
        guard operation.kind == .update, let base = operation.base, !operation.replaces, let item
        else { return recent.isEmpty }
        let columns = try device.disk.store.catalog.table(named: operation.table).columns
        let edited = Set(recent.compactMap(\.column))
        return columns.contains { column in
            !column.isLocalOnly && !edited.contains(column.name)
                && (item.fields[column.name] ?? .null) != (base.fields[column.name] ?? .null)
        }
    }
}
