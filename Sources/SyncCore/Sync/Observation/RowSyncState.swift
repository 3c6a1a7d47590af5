// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Whether the server has a row as it is stored here.
public enum RowSyncState: Sendable, Hashable {
    /// The row has no pending operation.
    case synced
    /// The row has a pending operation: not sent yet, refused and to be sent again, or waiting for another one.
    case pending
    /// The server has another state of the row, and the operation waits for a decision.
    case conflict(SyncError.Code)
    /// The server has refused the operation too often: see ``SyncSettings/parkAfterRefusals``.
    case parked
}

extension StoreSnapshot {
    /// Returns the states of the rows of a table, by id, without those that are synced.
    package func rowStates(
        in table: String, of catalog: TableCatalog
    ) throws -> [UTF8Text: RowSyncState] {
        var states: [UTF8Text: RowSyncState] = [:]
        for operation in try operations(after: 0, in: table, limit: .max) {
            states[UTF8Text(operation.itemID)] = .pending
        }
        for waiting in try waitingOperations(in: [table], of: catalog) {
            let id = UTF8Text(waiting.error.itemID)
            switch waiting.reason {
            case .parked: states[id] = .parked
            case .inConflict: states[id] = .conflict(waiting.error.code)
            case .held, .undeclared, .missingItem: break
            }
        }
        return states
    }
}
