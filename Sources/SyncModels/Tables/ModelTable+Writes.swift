// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension ModelTable {
    /// Inserts the model as a new item. Properties that show system properties or unknown columns are not written.
    ///
    /// - Returns: the stored model. Dates have milliseconds.
    /// - Throws: ``SyncError/Code/itemAlreadyExists``, ``SyncError/Code/invalidItemID``,
    ///   ``SyncError/Code/invalidItem``, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    ///   Nothing is stored when the call throws.
    @discardableResult
    public func insert(_ model: Model) async throws(SyncError) -> Model {
        try await withSyncErrors { try await context.batch { try $0.insert(model) } }
    }

    /// Changes the stored model in one transaction, and writes the columns of properties that the closure has
    /// changed.
    ///
    /// Other columns keep their stored values, also values that the model cannot hold. Such a property has its
    /// blank value, and assigning the blank value to it is no change: use ``ModelTable/raw`` for that. Nor can a JSON
    /// property be changed whose stored value its type cannot decode. Without a change nothing is written.
    ///
    /// - Parameters:
    ///   - id: the id of the model.
    ///   - change: changes the model. It may run more than once, so it should change nothing else.
    /// - Returns: the stored model.
    /// - Throws: what the closure throws; ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``.
    ///   Nothing is changed when the call throws.
    @discardableResult
    public func update(
        _ id: SyncID<Model>, _ change: @escaping @Sendable (inout Model) throws -> Void
    ) async throws -> Model {
        try await context.batch { try $0.update(id, change) }
    }

    /// Writes what differs between two copies to the item as it is now, for a form that edits a copy.
    ///
    /// Columns that do not differ keep their stored values, also if they have changed since the original was
    /// read. If a property of the model shows the system properties, and the server's row has changed since
    /// then, the push reports a conflict. A copy from before the row's first push has no version, and no conflict is
    /// reported for it: read the row again after that push. Without a difference nothing is written.
    ///
    /// - Parameters:
    ///   - edited: the edited copy.
    ///   - original: the model as it was read.
    /// - Returns: the stored model.
    /// - Throws: ``SyncError/Code/itemNotFound`` and the errors of ``insert(_:)``. Nothing is changed when the
    ///   call throws.
    @discardableResult
    public func save(_ edited: Model, from original: Model) async throws(SyncError) -> Model {
        try await withSyncErrors { try await context.batch { try $0.save(edited, from: original) } }
    }

    /// Deletes the item of that id.
    ///
    /// - Throws: ``SyncError/Code/itemNotFound``, ``SyncError/Code/unknownTable``,
    ///   ``SyncError/Code/storeFailure``. Nothing is changed when the call throws.
    public func delete(_ id: SyncID<Model>) async throws(SyncError) {
        try await withSyncErrors { try await context.batch { try $0.delete(id) } }
    }
}
