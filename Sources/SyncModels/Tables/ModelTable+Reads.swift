// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension ModelTable {
    /// Returns the model of that id, or `nil`.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` if a ``FieldOptions/required`` column is null or holds a value
    ///   that its property cannot hold; ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func get(_ id: SyncID<Model>) async throws(SyncError) -> Model? {
        try await withSyncErrors { try await context.read { try $0.get(id) } }
    }

    /// Returns the models that match the query. Unreadable items are left out, and logged once: see
    /// ``ModelPage/unreadable``.
    ///
    /// - Throws: ``SyncError/Code/filterNotSupported`` for a property without a column;
    ///   ``SyncError/Code/invalidParameter``, ``SyncError/Code/unknownTable``, ``SyncError/Code/storeFailure``.
    public func fetch(_ query: ModelQuery<Model> = Model.all) async throws(SyncError) -> [Model] {
        try await page(query).models
    }

    /// Returns the models that match the query, the total count, and the unreadable items.
    ///
    /// - Throws: the errors of ``fetch(_:)``.
    public func page(_ query: ModelQuery<Model> = Model.all) async throws(SyncError) -> ModelPage<Model> {
        try await withSyncErrors { try await context.read { try $0.page(query) } }
    }

    /// Returns the number of items that match the query, within its offset and limit. Unreadable items count.
    ///
    /// - Throws: the errors of ``fetch(_:)``.
    public func count(_ query: ModelQuery<Model> = Model.all) async throws(SyncError) -> Int {
        try await withSyncErrors { try await context.read { try $0.count(query) } }
    }
}
