// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A pending change of a model whose row was changed on the server by another client.
public struct ModelConflict<Model: SyncModel>: Sendable {
    /// The model on the device; `nil` when it was deleted there.
    public let mine: Model?
    /// The server's model; `nil` when it was deleted there, or the server does not show it.
    public let theirs: Model?
    /// The model that both changes were made on; `nil` when it is not known, as for inserts and for rows that the app has changed
    /// in its own database. Properties that cannot hold
    /// the value of the row have their blank value, also ``FieldOptions/required`` ones.
    public let base: Model?
    /// The conflict, with items.
    public let raw: Conflict

    /// Makes a conflict of models.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` if the item on the device or on the server is unreadable.
    public init(_ raw: Conflict) throws(SyncError) {
        self.raw = raw
        mine = try Self.model(of: raw.clientItem, raw)
        theirs = raw.isDeletedOnServer ? nil : try Self.model(of: raw.serverItem, raw)
        // The base may be a state of the row that the app has corrected since.
        base = try Self.model(of: raw.base, raw, requiresValues: false)
    }

    private static func model(
        of item: Item?, _ conflict: Conflict, requiresValues: Bool = true
    ) throws(SyncError) -> Model? {
        guard let item else { return nil }
        do throws(UnreadableItem) {
            return try Model.schema.decode(
                item, localOnlyOf: conflict.clientItem, requiresValues: requiresValues)
        } catch {
            throw error.syncError
        }
    }
}

/// One of the two sides of a conflict.
public enum ConflictSide: Sendable, Hashable {
    /// The device.
    case mine
    /// The server.
    case theirs
}

extension ModelConflict {
    /// The properties that both sides have changed to different values; empty if one side deleted the item.
    public var clashes: [any PartialKeyPath<Model> & Sendable] {
        guard let merge else { return [] }
        return clashingFields(of: merge).map(\.path)
    }

    /// Returns a three-way merge: each change that only one side made, and the changes of both sides as the
    /// policies of their fields combine them. Fields that clash and have no policy get the value of the
    /// preferred side.
    ///
    /// - Returns: the merged model; `nil` if one side deleted the item.
    public func merged(preferring side: ConflictSide = .theirs) -> Model? {
        result(preferring: side)?.model
    }

    /// Returns the item of ``merged(preferring:)``, whose columns keep stored values that the properties cannot hold.
    ///
    /// - Returns: the merged item; `nil` if one side deleted the item.
    /// - Throws: ``SyncError/Code/invalidItem`` for a value that cannot be stored.
    func mergedItem(preferring side: ConflictSide) throws(SyncError) -> Item? {
        guard let (item, model, columns) = result(preferring: side) else { return nil }
        var merged = item
        for column in columns { merged.content[column.name] = try value(of: column, in: model) }
        return merged
    }

    /// Merges both sides.
    ///
    /// - Returns: the stored values; the model; and the columns whose values are those of the model.
    private func result(preferring side: ConflictSide) -> (Item, model: Model, [FieldColumn<Model>])? {
        guard let mine, let theirs, let merge else { return nil }
        let item = merge.item(preferringLocal: side == .mine)
        guard var model = try? Self.model(of: item, raw) else { return nil }
        let models = MergedModels(
            base: base ?? inserted, mine: mine, theirs: theirs, isMineLater: raw.isClientLater)
        let combined = Model.schema.columns.filter { merge.isChangedTwice($0.name) && hasPolicy($0) }
        for column in combined { column.merge?(models, &model) }
        // The server's object may have keys of a newer app, which the device's value does not have.
        let preferred = Model.schema.columns.filter { column in
            side == .mine && column.type == .json && merge.clashes.contains(column.name)
                && column.holds(item.content[column.name], in: model)
        }
        return (item, model, combined + preferred)
    }

    /// The model of an insert that the server may have applied before.
    private var inserted: Model? {
        guard raw.base == nil, let item = raw.ancestor else { return nil }
        return try? Self.model(of: item, raw, requiresValues: false)
    }

    /// Whether both sides have changed a column without policy to different values, also one that the model does not have.
    var hasClashWithoutPolicy: Bool {
        guard let merge else { return false }
        let combined = Set(Model.schema.columns.lazy.filter(hasPolicy).map(\.name))
        return !merge.clashes.isSubset(of: combined)
    }

    /// Whether a policy combines changes of the column. It would take a value that the property cannot hold for the blank
    /// one, and overwrite it; and without the base of an update, it would take the whole value for the device's change.
    private func hasPolicy(_ column: FieldColumn<Model>) -> Bool {
        guard column.merge != nil, let mine, raw.base != nil || raw.operation.kind == .insert else {
            return false
        }
        return [raw.clientItem, raw.serverItem, raw.base].allSatisfy { side in
            let value = side?.shownValue(ofColumn: column.name, localOnlyColumns: raw.localOnlyColumns)
            return column.canHold(value, in: mine)
        }
    }

    private func clashingFields(of merge: ThreeWayMerge) -> [Field<Model>] {
        Model.schema.fields.filter { field in
            if case .column(let column) = field.role { merge.clashes.contains(column.name) } else { false }
        }
    }

    /// A set in another order is no change.
    private var merge: ThreeWayMerge? {
        guard let mine, let theirs, var client = raw.clientItem, let server = raw.serverItem else {
            return nil
        }
        let (base, original) = (base ?? inserted, raw.ancestor)
        var ancestor = original
        for column in Model.schema.columns {
            let name = column.name
            let theirs = (theirs, server.content[name])
            if column.isReordered((mine, client.content[name]), theirs) {
                client.content[name] = server.content[name]
            }
            guard let base else { continue }
            for (model, value) in [theirs, (mine, client.content[name])]
            where column.isReordered((base, original?.content[name]), (model, value)) {
                ancestor?.content[name] = value
                break
            }
        }
        return ThreeWayMerge(
            local: client, server: server, base: ancestor, localOnlyColumns: raw.localOnlyColumns)
    }

    /// Lays a model over the server's row with the device's changes of columns that the model does not have. Columns whose
    /// properties are equal to one side keep its stored value.
    ///
    /// - Throws: ``SyncError/Code/invalidItemID`` for another id; ``SyncError/Code/invalidItem`` for a value
    ///   that cannot be stored.
    func item(merging model: Model) throws(SyncError) -> Item {
        let id = raw.operation.itemID
        guard model.id.text.hasSameBytes(as: id) else {
            throw SyncError(
                .invalidItemID, "The merged \(Model.self) must have the id '\(id)', not '\(model.id)'.")
        }
        var item =
            merge?.item(preferringLocal: false) ?? (theirs == nil ? nil : raw.serverItem) ?? raw.clientItem
            ?? Item(id: id)
        for column in Model.schema.columns {
            item.content[column.name] = try value(of: column, in: model)
        }
        return item
    }

    /// Returns the value to store for the property of a merged model; `nil` if neither the property nor the server has one.
    private func value(of column: FieldColumn<Model>, in model: Model) throws(SyncError) -> ItemValue? {
        let server = raw.serverItem?.content[column.name]
        let client = raw.clientItem?.content[column.name]
        let isMine = if let mine { column.isSame(mine, model) } else { false }
        if let theirs, column.isSame(theirs, model) {
            // Both sides show the blank value, which only the device has.
            let isOnlyMine =
                isMine && !column.holds(server, in: model) && column.holds(client, in: model)
                && client ?? .null != raw.base?.content[column.name] ?? .null
            return isOnlyMine ? client : server
        }
        // The keys that the type does not have are those of the server's object.
        if let theirs, let server, case .object = server, column.holds(server, in: model) {
            return column.addingUnknownKeys(
                of: server, shownIn: theirs, to: try Model.schema.value(of: column, in: model))
        }
        if isMine, let client { return client }
        // Neither side has a value.
        if isMine, theirs == nil { return .none }
        let value = try Model.schema.value(of: column, in: model)
        guard let mine, let client, column.holds(client, in: model) else { return value }
        return column.addingUnknownKeys(of: client, shownIn: mine, to: value)
    }
}
