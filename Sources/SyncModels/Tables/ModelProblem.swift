// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// The failure of a pending operation: an entry of the error log, with models. See ``ModelTable/resolve(_:_:)``.
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
    /// The entry of the error log, with items.
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
