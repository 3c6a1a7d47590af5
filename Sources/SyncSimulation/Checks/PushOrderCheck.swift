// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The server never has a child without its parent.
extension SimulatedSystem {
    /// Checks the operations that a commit has marked as attempted.
    func checkPushOrder(
        _ operations: [TableOperation], _ errors: [TableOperationError], _ snapshot: any StoreSnapshot,
        _ device: SimulatedDevice
    ) throws {
        let lastAttempts = device.state.withLock { state in
            let last = state.lastAttempts
            state.lastAttempts = Dictionary(uniqueKeysWithValues: operations.map { ($0.id, $0.lastAttempt) })
            return last
        }
        let sent = operations.filter { operation in
            operation.state == .attempted && operation.lastAttempt != lastAttempts[operation.id] ?? nil
        }
        guard !sent.isEmpty else { return }
        device.state.withLock { $0.unsent.subtract(sent.map(\.id)) }
        for operation in sent {
            if operation.kind == .insert { try checkParent(of: operation, operations, snapshot, device) }
            checkTables(of: operation, operations, errors, device)
        }
    }

    /// The insert of a child is not sent while the insert of its parent is pending.
    private func checkParent(
        of operation: TableOperation, _ operations: [TableOperation], _ snapshot: any StoreSnapshot,
        _ device: SimulatedDevice
    ) throws {
        guard let parent = parents(of: operation.table, device).first,
            let item = try snapshot.item(id: operation.itemID, in: operation.table),
            let id = item.fields["parent"]?.textValue
        else { return }
        // A parent that is inserted in this commit, also after its deletion, may have been inserted after the mark.
        let key = RowKey(table: parent, id: id)
        let insert = operations.first { $0.table == parent && $0.itemID == id && $0.kind == .insert }
        let before = device.state.withLock { $0.pending[key] }
        if let insert, before?.firstID == insert.id, before?.firstKind == .insert {
            fail(
                .order,
                "\(device.name) sends \(operation.table)/\(operation.itemID) before its parent \(key).")
        }
    }

    /// Notes the operations that wait for no other, before a push after the faults. Nothing but the order of the tables
    /// decides then which is sent first. Operations that may fail alone are sent last.
    func noteUnsent(_ device: SimulatedDevice, _ context: SyncContext) async {
        guard let operations = try? await context.pendingOperations() else { return }
        let tables = device.disk.store.catalog.tables
        let sentLast = context.operationIDsSentLast
        let waiting = operations.filter { operation in
            if sentLast.contains(operation.id) { return false }
            if let status = operation.lastStatus, (400...500).contains(status) { return false }
            return switch operation.kind {
            case .insert: parents(of: operation.table, device).isEmpty
            case .delete: !tables.contains { $0.parents.contains(operation.table) }
            case .update: false
            }
        }
        device.state.withLock { state in
            state.unsent = Set(waiting.map(\.id)).subtracting(state.operationsBehind)
        }
    }

    /// After the faults, inserts of parents are sent before those of children, and deletes of children before those of
    /// parents, whether or not the rows belong together.
    private func checkTables(
        of operation: TableOperation, _ operations: [TableOperation], _ errors: [TableOperationError],
        _ device: SimulatedDevice
    ) {
        let unsent = device.state.withLock { $0.unsent }.subtracting(errors.map(\.operationID))
        for other in operations where unsent.contains(other.id) && other.kind == operation.kind {
            let (parent, child) = operation.kind == .insert ? (other, operation) : (operation, other)
            if parents(of: child.table, device).contains(parent.table) {
                fail(
                    .order,
                    "\(device.name) sends the \(operation.kind) of \(operation.table)/\(operation.itemID) before "
                        + "that of \(other.table)/\(other.itemID).")
            }
        }
    }

    private func parents(of table: String, _ device: SimulatedDevice) -> [String] {
        device.disk.store.catalog.tables.first { $0.name == table }?.parents ?? []
    }
}
