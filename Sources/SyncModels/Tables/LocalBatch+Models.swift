// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// Models inside one transaction: see `SyncContext.batch`. Reads see the batch's own changes.
extension LocalBatch {
    /// Returns the model of that id as it is now, or `nil`.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` if the item is unreadable.
    public func get<Model: SyncModel>(_ id: SyncID<Model>) throws -> Model? { try find(id)?.model }

    /// Returns the models that match the query as they are now, without unreadable items.
    public func fetch<Model: SyncModel>(_ query: ModelQuery<Model>) throws -> [Model] {
        try readPage(query).models
    }

    /// Returns the number of items that match the query, within its offset and limit.
    public func count<Model: SyncModel>(_ query: ModelQuery<Model>) throws -> Int { try readCount(query) }

    /// Inserts a model: see ``ModelTable/insert(_:)``.
    @discardableResult
    public func insert<Model: SyncModel>(_ model: Model) throws -> Model {
        var fields = try Model.schema.encode(model)
        fields["id"] = .text(model.id.text)
        return try stored { try insert(fields, in: Model.tableName) }
    }

    /// Changes a model: see ``ModelTable/update(_:_:)``.
    @discardableResult
    public func update<Model: SyncModel>(
        _ id: SyncID<Model>, _ change: (inout Model) throws -> Void
    ) throws -> Model {
        guard let (item, original) = try find(id) else { throw SyncError.modelNotFound(id) }
        var edited = original
        try change(&edited)
        let changes = try Model.schema.changes(from: original, to: edited)
        guard !changes.isEmpty else { return original }
        let fields = try Model.schema.addingUnknownKeys(of: item, original, to: changes)
        return try stored { try update(id: id.text, fields, in: Model.tableName) }
    }

    /// Saves an edited copy: see ``ModelTable/save(_:from:)``.
    @discardableResult
    public func save<Model: SyncModel>(_ edited: Model, from original: Model) throws -> Model {
        let changes = try Model.schema.changes(from: original, to: edited)
        guard let current = try find(original.id) else { throw SyncError.modelNotFound(original.id) }
        guard !changes.isEmpty else { return current.model }
        var item = current.item
        let fields = try Model.schema.addingUnknownKeys(of: item, current.model, to: changes)
        item.fields.merge(fields) { _, new in new }
        item.system = Model.schema.system(of: original) ?? SystemProperties()
        let older = Model.schema.olderValues(of: original, than: current.model, in: changes)
        let known = try Model.schema.addingUnknownKeys(of: current.item, current.model, to: older)
        return try stored { try replace(item, in: Model.tableName, changing: known) }
    }

    /// Deletes the item of that id: see ``ModelTable/delete(_:)``.
    public func delete<Model: SyncModel>(_ id: SyncID<Model>) throws {
        try withModelErrors(Model.self) {
            guard try item(id: id.text, in: Model.tableName) != nil else { throw SyncError.modelNotFound(id) }
            try delete(id: id.text, in: Model.tableName)
        }
    }

    /// Returns the model of the item that the write has stored.
    private func stored<Model: SyncModel>(_ write: () throws -> Item) throws -> Model {
        try withModelErrors(Model.self) { try Model.schema.decode(try write()) }
    }
}

extension LocalBatch: ItemReading {
    /// Transactions do not log.
    func report(_ rows: [UnreadableRow]) {}
}
