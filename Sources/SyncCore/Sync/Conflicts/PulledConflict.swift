// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Lets the table's resolver decide about a pending operation whose row a pull has found changed.
    ///
    /// Without a resolver nothing happens: the push will report the conflict. Attempts whose answer is open are left to
    /// the push too, which may prove that the row is their own work.
    func settlePulledConflict(_ operationID: Int64, _ definition: SyncTableDefinition) async throws {
        guard settings.resolver(of: definition.name) != nil else { return }
        let conflict = try await read { snapshot -> TableOperationError? in
            guard let operation = try snapshot.operation(id: operationID), operation.serverItem != nil,
                !operation.isAmbiguous
            else { return nil }
            let item = try snapshot.item(id: operation.itemID, in: operation.table)
            return TableOperationError(
                operation, item: item ?? operation.deletedItem, serverItem: operation.serverItem,
                code: .preconditionFailed, message: "The item was changed on the server meanwhile")
        }
        guard var conflict else { return }
        let settlement = ConflictSettlement(context: self, definition: definition, isInFlight: false)
        for _ in 0..<settings.maxResolutions {
            do {
                guard case .changed(let newer) = try await settlement.settle(conflict) else { return }
                conflict = newer
            } catch let error as SyncError where error.code == .operationChanged {
                return
            }
        }
    }
}
