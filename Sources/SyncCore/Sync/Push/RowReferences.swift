// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Finds pending operations of parents and children that must be completed before an operation is sent.
///
/// ``PushOrder`` sends parents before their children. When the insert of a parent fails, only its own children wait for
/// it. A row refers to a parent by a text field with the parent's id.
struct RowReferences {
    let catalog: TableCatalog
    /// The table of the operation.
    let definition: SyncTableDefinition

    /// Returns the first pending operation that has to be sent earlier: the insert of a row that the item refers to or,
    /// for a delete, the operation after which a row on the server no longer refers to the item.
    func prerequisite(
        of operation: TableOperation, item: Item?, in snapshot: any StoreSnapshot
    ) throws -> TableOperation? {
        operation.kind == .delete
            ? try changeOfChild(of: operation, in: snapshot) : try insertOfParent(of: item, in: snapshot)
    }

    private func insertOfParent(of item: Item?, in snapshot: any StoreSnapshot) throws -> TableOperation? {
        guard let item, !definition.parents.isEmpty else { return nil }
        for id in definition.syncedFields(of: item).values.compactMap(\.textValue) where ItemID.isValid(id) {
            for parent in definition.parents {
                // The insert can be behind the delete of a former row, or have become an update of an unknown row.
                let operations = try snapshot.operations(forItem: id, in: parent)
                if let insert = operations.first(where: { $0.kind == .insert || $0.isUnconfirmed }) {
                    return insert
                }
            }
        }
        return nil
    }

    private func changeOfChild(
        of operation: TableOperation, in snapshot: any StoreSnapshot
    ) throws -> TableOperation? {
        for child in catalog.tables where child.parents.contains(definition.name) {
            let first = try snapshot.operations(after: 0, in: child.name, limit: .max).first { change in
                // Otherwise the server may delete the child with its parent.
                let refers = change.newestServerItem?.refers(to: operation.itemID) == true
                return switch change.kind {
                case .insert: false
                case .delete: refers || change.deletedItem?.refers(to: operation.itemID) == true
                case .update:
                    try refers
                        && snapshot.readableItem(id: change.itemID, in: child)?.refers(to: operation.itemID)
                            != true
                }
            }
            if let first { return first }
        }
        return nil
    }
}

extension Item {
    fileprivate func refers(to id: String) -> Bool {
        fields.values.contains { $0.textValue?.hasSameBytes(as: id) == true }
    }
}
