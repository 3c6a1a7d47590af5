// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An item that the delegate gives an operation to send instead of the stored one.
struct DelegateItem: Sendable {
    let item: Item
    /// The delegate's item before its changes: the stored one, or the one that it last sent. Changes made by the user since
    /// then are kept.
    let original: Item?
    /// Whether the operation has failed in the same call of the delegate with the server's row.
    let knowsServerItem: Bool

    /// Stores the item in place of the stored one.
    ///
    /// If the delegate has given the item a version, an update or a delete is treated as made on that version. The version
    /// that the stored item had is not the delegate's: the operation may be made on an older copy, or on no row that the
    /// user has seen. An insert is made on no row, so its item keeps its system properties.
    func store(
        for operation: inout TableOperation, in transaction: any StoreTransaction,
        _ definition: SyncTableDefinition, _ dialect: WireDialect
    ) throws {
        guard item.id.hasSameBytes(as: operation.itemID) else {
            throw SyncError.itemIDChanged(from: operation.itemID)
        }
        var stored = item
        stored.content = try definition.normalizedForWriting(item.content)
        let local = try transaction.item(id: item.id, in: definition.name)
        if let version = item.system.version, operation.kind != .insert,
            knowsServerItem || item.system != original?.system
        {
            try operation.rebase(on: item, version: version, in: transaction, definition)
            if let base = operation.base, base.system.version?.hasSameBytes(as: version) == true {
                // The delegate may have set the version alone.
                stored.system.undeclared = base.system.undeclared
            } else if operation.base == nil {
                stored = stored.addingUndeclaredColumns(of: [local, operation.serverItem], for: dialect)
            }
        } else {
            // A resolver may have stored a row since.
            stored.system = local?.system ?? SystemProperties()
        }
        // To overwrite a tombstone, the delegate gives the item its version.
        stored.system.deleted = false
        guard operation.kind != .delete else { return }
        // The user has deleted the item since.
        if local == nil, original != nil { return }
        if let original, let local {
            // As it was stored: fields of the delegate are normalized.
            let ancestor = (try? definition.normalizedForWriting(original.content)) ?? original.content
            stored = stored.changed(as: local, since: ancestor.byName, definition: definition)
        }
        // The server's row has none.
        let kept = stored.addingLocalOnlyColumns(of: local, definition: definition)
        try transaction.upsert([kept], in: definition.name)
    }
}

extension TableOperation {
    /// Makes this a change of the row with the version of the delegate's item.
    ///
    /// If that row is known, the fields that differ from it are sent; otherwise the item replaces the whole row.
    fileprivate mutating func rebase(
        on item: Item, version newVersion: String, in transaction: any StoreTransaction,
        _ definition: SyncTableDefinition
    ) throws {
        let reported = try transaction.operationError(operationID: id)?.serverItem
        let row = [serverItem, reported].compactMap { $0 }.first {
            $0.system.version?.hasSameBytes(as: newVersion) == true
        }
        if version?.hasSameBytes(as: newVersion) == true {
            // A row that was inserted again can have the same version.
            guard let row, item.isSameState(as: row), base?.isSameState(as: row) != true else { return }
        }
        if let row { base = definition.withoutLocalOnlyColumns(row) } else { replaces = kind == .update }
        version = newVersion
        // An attempt with unknown outcome was made on another version, and is not repeated.
        (sent, state) = (nil, .pending)
    }
}

extension SyncError {
    static func itemIDChanged(from id: String) -> SyncError {
        SyncError(.invalidItemID, "The item of an operation must keep its id '\(id)'.")
    }
}
