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
            guard let operation = try operation(id: error.operationID) else { continue }
            if let definition {
                let found = try waitingOperation(operation, error, definition, catalog)
                guard let found else { continue }
                waiting.append(found)
            } else {
                waiting.append(WaitingOperation(reason: .undeclared, error: error))
            }
            for behind in try operations(behind: operation)
            where try operationError(operationID: behind.id) == nil {
                let item = try definition.flatMap { try readableItem(id: behind.itemID, in: $0) }
                waiting.append(
                    WaitingOperation(reason: .held, error: .held(behind, by: operation, item: item)))
            }
        }
        return waiting
    }

    /// Returns why an operation with an error waits; `nil` if pushes send it.
    private func waitingOperation(
        _ operation: TableOperation, _ error: TableOperationError, _ definition: SyncTableDefinition,
        _ catalog: TableCatalog
    ) throws -> WaitingOperation? {
        // Pushes do not send a parked operation: the user may have changed the item since it failed.
        let current = try error.updated(for: operation, in: self, definition)
        switch error.code {
        case _ where operation.isParked: return WaitingOperation(reason: .parked, error: current)
        case .operationHeld:
            return try heldError(current, operation, definition, catalog).map {
                WaitingOperation(reason: .held, error: $0)
            }
        case .expectedItem:
            let item = try readableItem(id: operation.itemID, in: definition)
            guard try operation.lacksItem(item, in: self) else { return nil }
            return WaitingOperation(reason: .missingItem, error: current)
        default: return error.isConflict ? WaitingOperation(reason: .inConflict, error: current) : nil
        }
    }

    /// Returns the error of a held operation, which names the operation that has to be sent first now; `nil` if there is none.
    private func heldError(
        _ error: TableOperationError, _ operation: TableOperation, _ definition: SyncTableDefinition,
        _ catalog: TableCatalog
    ) throws -> TableOperationError? {
        // A search for the children of a deleted row reads all their operations.
        if operation.kind == .delete, let id = error.heldBy, try self.operation(id: id) != nil {
            return error
        }
        let item = try readableItem(id: operation.itemID, in: definition)
        let references = RowReferences(catalog: catalog, definition: definition)
        let first =
            try self.operation(before: operation)
            ?? references.prerequisite(of: operation, item: item, in: self)
        return first.map { $0.id == error.heldBy ? error : .held(operation, by: $0, item: item) }
    }
}
