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
    /// The next push sends what is kept. ``ModelDecision/keepTheirs`` discards the change: the model is the server's again. A
    /// model that is merged with a deletion is not deleted.
    ///
    /// - Throws: ``SyncError/Code/operationChanged`` if the model has been changed since it was sent, or is being sent: push,
    ///   and decide about the new problem; ``SyncError/Code/operationNotFound`` if the operation is no longer pending;
    ///   ``SyncError/Code/invalidItem`` if a side is unreadable or a value cannot be stored;
    ///   ``SyncError/Code/invalidItemID`` for a merged model with another id; ``SyncError/Code/storeFailure``. Nothing is
    ///   changed when the call throws.
    public func resolve(
        _ problem: ModelProblem<Model>, _ decision: ModelDecision<Model>
    ) async throws(SyncError) {
        try await withSyncErrors {
            let error = problem.raw
            switch decision {
            case .keepMine where problem.kind == .delete:
                try await context.changeKind(for: error, to: .delete)
            case .keepMine:
                guard let item = error.item else { throw SyncError.modelNotFound(problem.modelID) }
                try await context.keepAndUpdateItem(for: error, with: item)
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
        let stored = try await context.withSnapshot { try $0.operation(id: error.operationID) }
        let operation =
            stored
            ?? TableOperation(
                id: error.operationID, table: error.table, itemID: error.itemID, kind: error.kind)
        let shown = Model.schema.definition.withSyncedFieldsOfAttempt(operation)
        return try ModelConflict(
            Conflict(operation: shown, clientItem: error.item, serverItem: error.serverItem))
    }
}
