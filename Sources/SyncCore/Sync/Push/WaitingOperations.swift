// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A pending operation that waits for the app or the user or, if it is held, for another operation.
///
/// Pushes send a held operation by themselves once the operation that it waits for is complete.
struct WaitingOperation: Sendable {
    let reason: Reason
    /// The error that a push reports for it.
    let error: TableOperationError

    /// Why an operation waits.
    enum Reason: Sendable, Hashable {
        /// The server has refused it too often: see ``Parking``.
        case parked
        /// The server has another state of the row.
        case inConflict
        /// It waits for another operation that has to be sent first.
        case held
        /// The app no longer declares its table.
        case undeclared
        /// Its item is missing in the app's database.
        case missingItem
    }
}

extension StoreSnapshot {
    /// Returns the waiting operations of the tables, or of all tables.
    ///
    /// Each has an error in the error log, or is behind an operation of the same item that has one.
    ///
    /// - Parameter catalog: the tables whose items can be read.
    func waitingOperations(
        in tables: Set<String>?, of catalog: TableCatalog
    ) throws -> [WaitingOperation] {
        var waiting: [WaitingOperation] = []
        for error in try operationErrors(in: nil) where tables?.contains(error.table) ?? true {
            let definition = catalog.contains(error.table) ? try catalog.table(named: error.table) : nil
            guard let operation = try operation(id: error.operationID),
                let reason = try definition.map({ try reason(for: operation, error, $0) }) ?? .undeclared
            else { continue }
            // Pushes do not send a parked operation: the user may have changed the item since it failed.
            let current = try definition.map { try error.updated(for: operation, in: self, $0) } ?? error
            waiting.append(WaitingOperation(reason: reason, error: current))
            for behind in try operations(behind: operation)
            where try operationError(operationID: behind.id) == nil {
                let item = try definition.flatMap { try readableItem(id: behind.itemID, in: $0) }
                waiting.append(
                    WaitingOperation(reason: .held, error: .held(behind, by: operation, item: item)))
            }
        }
        return waiting
    }

    /// Returns the reason for an operation with an error; `nil` if pushes send it.
    private func reason(
        for operation: TableOperation, _ error: TableOperationError, _ definition: SyncTableDefinition
    ) throws -> WaitingOperation.Reason? {
        switch error.code {
        case _ where operation.isParked: return .parked
        case .operationHeld: return try isHeld(error) ? .held : nil
        case .expectedItem:
            let item = try readableItem(id: operation.itemID, in: definition)
            return try operation.lacksItem(item, in: self) ? .missingItem : nil
        default: return error.isConflict ? .inConflict : nil
        }
    }

    /// Whether the operation that has to be sent first is still pending. Errors of earlier versions do not name it.
    private func isHeld(_ error: TableOperationError) throws -> Bool {
        try error.heldBy.map { try operation(id: $0) != nil } ?? true
    }
}
