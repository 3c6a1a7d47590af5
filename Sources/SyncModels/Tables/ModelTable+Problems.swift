// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension ModelTable {
    /// Returns the error log of the table: the failures of pending operations, in the order of the queue.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func problems() async throws(SyncError) -> [ModelProblem<Model>] {
        try await withSyncErrors {
            try withModelErrors(Model.self) { _ = try context.catalog.table(named: Model.tableName) }
            return try await context.operationErrors(in: Model.tableName).map { ModelProblem($0) }
        }
    }

    /// Decides about a problem, as a resolver decides about a conflict, and removes it from the error log.
    ///
    /// The next push sends what is kept, and reports a new problem if the server has another row by then, or none.
    /// ``ModelDecision/keepTheirs`` discards the change: the model is the newest row that the server has shown. Without one it is
    /// removed, and pulled again if the server has it. A model that is merged with a deletion is not deleted.
    ///
    /// - Throws: ``SyncError/Code/operationChanged`` if the model has been changed since it was sent, or is being sent: push, or
    ///   replay a parked operation, and decide about the new problem; ``SyncError/Code/operationNotFound`` if the operation is
    ///   no longer pending; ``SyncError/Code/expectedItem`` if the model to keep is missing in the app's database;
    ///   ``SyncError/Code/invalidItem`` if a side is unreadable or a value cannot be stored;
    ///   ``SyncError/Code/invalidItemID`` for a merged model with another id; ``SyncError/Code/unknownTable``;
    ///   ``SyncError/Code/storeFailure``. Nothing is changed when the call throws.
    public func resolve(
        _ problem: ModelProblem<Model>, _ decision: ModelDecision<Model>
    ) async throws(SyncError) {
        try await withSyncErrors {
            let error = problem.raw
            switch decision {
            case .keepMine:
                try await context.keepItem(for: error)
            case .keepTheirs:
                try await context.cancelAndDiscardItem(for: error)
            case .merge(let model):
                let item = try await conflict(of: error).item(merging: model)
                if problem.kind == .delete {
                    try await context.changeKind(for: error, to: .update, with: item)
                } else {
                    try await context.keepAndUpdateItem(for: error, with: item)
                }
            case .keepPending:
                break
            }
        }
    }

    private func conflict(of error: TableOperationError) async throws -> ModelConflict<Model> {
        // The stored item can have columns that a pull has added since the failure.
        let (stored, item) = try await context.withSnapshot { snapshot in
            (
                try snapshot.operation(id: error.operationID),
                try snapshot.item(id: error.itemID, in: error.table)
            )
        }
        guard let stored else { throw SyncError.operationNotFound(error.operationID) }
        return try ModelConflict(
            Conflict(
                stored, clientItem: item ?? error.item, serverItem: error.serverItem,
                definition: Model.schema.definition))
    }
}
