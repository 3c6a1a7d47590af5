// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// The failure of a pending operation: an entry of the error log, with models.
public struct ModelProblem<Model: SyncModel>: Sendable, Identifiable {
    /// The id of the operation.
    public let id: Int64
    /// The id of the model.
    public let modelID: SyncID<Model>
    /// What the operation does on the server.
    public let kind: TableOperation.Kind
    /// The model as it was sent; for a delete, as it was before. `nil` if it is unreadable.
    public let mine: Model?
    /// The server's model, if the failure is a conflict and the server has the row. `nil` if it is unreadable.
    public let theirs: Model?
    /// The code of the failure.
    public let code: SyncError.Code
    /// A sentence about what happened.
    public let message: String
    /// The entry of the error log, for the resolutions of `SyncContext`.
    public let raw: TableOperationError

    /// Whether the server holds another state of the row than the operation was made on.
    public var isConflict: Bool { raw.isConflict }

    init(_ error: TableOperationError) {
        id = error.operationID
        modelID = SyncID(unchecked: error.itemID)
        kind = error.kind
        code = error.code
        message = error.message
        raw = error
        let schema = Model.schema
        mine = error.item.flatMap { try? schema.decode($0) }
        theirs = error.serverItem.flatMap { item in
            item.system.deleted ? nil : try? schema.decode(item, localOnlyOf: error.item)
        }
    }
}

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
}
