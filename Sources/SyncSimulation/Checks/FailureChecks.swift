// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// What holds when a failure is recorded, and until it is decided.
extension SimulatedSystem {
    func checkFailures(
        _ operations: [TableOperation], _ errors: [TableOperationError], _ device: SimulatedDevice
    ) {
        let (before, rowsBefore) = device.state.withLock { state in
            defer {
                state.errorCodes = Dictionary(errors.map { ($0.operationID, $0.code) }) { $1 }
                state.pulledRows = Dictionary(
                    uniqueKeysWithValues: operations.compactMap { operation in
                        operation.serverItem.map { (operation.id, $0) }
                    })
            }
            return (state.errorCodes, state.pulledRows)
        }
        for error in errors where before[error.operationID] != error.code {
            guard let operation = operations.first(where: { $0.id == error.operationID }) else { continue }
            switch error.code {
            case .itemNotOnServer:
                checkMissingRow(operation, pulledBefore: rowsBefore[operation.id], device)
            case .operationHeld: checkHeldOperation(operation, operations, device)
            default: break
            }
        }
    }

    /// A row that is reported as gone is gone, and nothing of it is kept. Its deletion is complete.
    private func checkMissingRow(
        _ operation: TableOperation, pulledBefore: Item?, _ device: SimulatedDevice
    ) {
        let key = RowKey(table: operation.table, id: operation.itemID)
        if operation.kind == .delete {
            fail(.falseConflict, "\(device.name): the deletion of \(key), which is gone, is reported.")
        }
        if let row = operation.serverItem {
            fail(
                .atomicity,
                "\(device.name): \(key) is gone, and its operation keeps version \(row.system.version ?? "-")."
            )
        }
        guard let table = app.tables.first(where: { $0.name == key.table }),
            let row = server.rows(of: key.table)[key.id], !row.isDeleted,
            let pulledBefore, isShown(pulledBefore, as: row, table)
        else { return }
        fail(
            .completeness,
            "\(device.name): \(key) is reported as gone, and the device has received version \(row.version).")
    }

    /// An edit behind an operation that is not sent waits with it, and is not reported apart. On a shared store, an edit stays
    /// behind an attempted operation until the next push, because another process could be sending it. A deletion behind an
    /// insert, and later edits, stay until the delegate that performs the insert has returned.
    private func checkHeldOperation(
        _ operation: TableOperation, _ operations: [TableOperation], _ device: SimulatedDevice
    ) {
        let behind = operations.first {
            $0.id > operation.id && $0.itemID == operation.itemID && $0.table == operation.table
        }
        let processes = device.state.withLock(\.processes)
        guard let behind, behind.kind != .insert, !device.disk.isShared || operation.state == .pending,
            !processes.contains(where: { $0.context.isPerforming(operation.id) })
        else { return }
        fail(.queue, "\(device.name): operation \(behind.id) waits behind \(operation.id), which is held.")
    }
}
