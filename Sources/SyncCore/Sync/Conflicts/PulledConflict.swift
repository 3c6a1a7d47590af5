// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Calls the table's resolver for a pending operation whose row was changed on the server, as a pull has found.
    ///
    /// Without a resolver nothing happens: the push reports the conflict. Attempts with unknown outcome are left to the
    /// push too, which may prove that the row is their result, and so are operations that have nothing to send, and deletes
    /// of rows as the device has left them. The push also records the error of an item that cannot be read.
    func resolvePulledConflict(_ operationID: Int64, _ definition: SyncTableDefinition) async throws {
        guard settings.resolver(of: definition.name) != nil else { return }
        do { try await resolve(operationID, definition) } catch let error as SyncError where error.isOfItem {}
    }

    private func resolve(_ operationID: Int64, _ definition: SyncTableDefinition) async throws {
        let sendsChangedFieldsOnly = sendsChangedFieldsOnly
        let conflict = try await read { snapshot -> TableOperationError? in
            guard let operation = try snapshot.operation(id: operationID), operation.serverItem != nil,
                !operation.isAmbiguous, operation.rowLeftByClient(definition) == nil
            else { return nil }
            let item = try snapshot.item(id: operation.itemID, in: operation.table)
            let attempt = operation.nextAttempt(
                item: item, definition: definition, sendsChangedFieldsOnly: sendsChangedFieldsOnly)
            return attempt.map { _ in .foundByPull(operation, item: item) }
        }
        guard var conflict else { return }
        let resolution = ConflictResolution(context: self, definition: definition, isInFlight: false)
        for _ in 0..<max(0, settings.maxResolutions) {
            do {
                guard case .changed(let newer) = try await resolution.resolve(conflict) else { return }
                conflict = newer
            } catch let error as SyncError where error.code == .operationChanged {
                return
            }
        }
    }
}
