// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// A pending change of a model whose row was changed on the server by another client.
public struct ModelConflict<Model: SyncModel>: Sendable {
    /// The model on the device; `nil` when it was deleted there.
    public let mine: Model?
    /// The server's model; `nil` when it was deleted there, or the server does not show it.
    public let theirs: Model?
    /// The model that both changes were made on; `nil` when the device never had one, as for inserts.
    public let base: Model?
    /// The conflict, with items.
    public let raw: Conflict

    /// Makes a conflict of models.
    ///
    /// - Throws: ``SyncError/Code/invalidItem`` if one of the items is unreadable.
    public init(_ raw: Conflict) throws(SyncError) {
        self.raw = raw
        mine = try Self.model(of: raw.clientItem, raw)
        theirs = raw.isDeletedOnServer ? nil : try Self.model(of: raw.serverItem, raw)
        base = try Self.model(of: raw.base, raw)
    }

    private static func model(of item: Item?, _ conflict: Conflict) throws(SyncError) -> Model? {
        guard let item else { return nil }
        do throws(UnreadableItem) {
            return try Model.schema.decode(item, localOnlyOf: conflict.clientItem)
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
        guard let mine, let theirs, let merge,
            var merged = try? Self.model(of: merge.item(preferringLocal: side == .mine), raw)
        else { return nil }
        let models = MergedModels(base: base, mine: mine, theirs: theirs, isMineLater: isMineLater)
        for column in Model.schema.columns where merge.isChangedTwice(column.name) && hasPolicy(column) {
            column.merge?(models, &merged)
        }
        return merged
    }

    /// Whether both sides have changed a field without policy to different values.
    var hasClashWithoutPolicy: Bool {
        guard let merge else { return false }
        return clashingFields(of: merge).contains { field in
            if case .column(let column) = field.role { !hasPolicy(column) } else { false }
        }
    }

    /// Whether a policy combines changes of the column. It would take a value that the property cannot hold for the blank
    /// one, and overwrite it.
    private func hasPolicy(_ column: FieldColumn<Model>) -> Bool {
        guard column.merge != nil, let mine else { return false }
        return [raw.clientItem, raw.serverItem, raw.base].allSatisfy { side in
            column.canHold(side?.fields[column.name], in: mine)
        }
    }

    private func clashingFields(of merge: ThreeWayMerge) -> [Field<Model>] {
        Model.schema.fields.filter { field in
            if case .column(let column) = field.role { merge.clashes.contains(column.name) } else { false }
        }
    }

    private var merge: ThreeWayMerge? {
        guard mine != nil, theirs != nil, let client = raw.clientItem, let server = raw.serverItem else {
            return nil
        }
        return ThreeWayMerge(local: client, server: server, base: raw.base)
    }

    private var isMineLater: Bool {
        guard let mine = raw.operation.changedAt, let theirs = raw.serverItem?.system.updatedAt else {
            return false
        }
        return theirs.isEarlier(than: mine)
    }

    /// Lays a model over the server's row. Columns whose properties are equal to one side keep its stored value.
    ///
    /// - Throws: ``SyncError/Code/invalidItemID`` for another id; ``SyncError/Code/invalidItem`` for a value
    ///   that cannot be stored.
    func item(merging model: Model) throws(SyncError) -> Item {
        let id = raw.operation.itemID
        guard model.id.text.hasSameBytes(as: id) else {
            throw SyncError(
                .invalidItemID, "The merged \(Model.self) must have the id '\(id)', not '\(model.id)'.")
        }
        var item = (theirs == nil ? nil : raw.serverItem) ?? raw.clientItem ?? Item(id: id)
        for column in Model.schema.columns {
            if let theirs, try column.isSame(theirs, model) { continue }
            var stored: ItemValue?
            if let mine, try column.isSame(mine, model) { stored = raw.clientItem?.fields[column.name] }
            item.fields[column.name] = if let stored { stored } else { try column.value(model) }
        }
        return item
    }
}
