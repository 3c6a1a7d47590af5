// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension StoreSnapshot {
    /// Returns the item to show or to compare it; without the fields that cannot be read, if the app that writes to its table as
    /// well has stored values of other types there.
    ///
    /// - Throws: the errors of ``StoreSnapshot/item(id:in:)``, without ``StoreError/Code/corrupt``.
    func readableItem(id: String, in definition: SyncTableDefinition) throws -> Item? {
        try item(id: id, in: definition) { _ in true }
    }

    /// Returns the item that a row of the server replaces, as ``readableItem(id:in:)`` does.
    ///
    /// - Throws: the errors of ``StoreSnapshot/item(id:in:)``; ``StoreError/Code/corrupt`` only for a value that no row of the
    ///   server replaces: that of a local-only column.
    func replaceableItem(id: String, in definition: SyncTableDefinition) throws -> Item? {
        try item(id: id, in: definition) { !$0.isLocalOnly }
    }

    private func item(
        id: String, in definition: SyncTableDefinition, leavingOut mayLeaveOut: (SyncColumn) -> Bool
    ) throws -> Item? {
        do {
            return try item(id: id, in: definition.name)
        } catch let error as StoreError where error.code == .corrupt {
            var item = Item(id: id)
            let query = TableQuery(definition.name).where(.column("id") == id)
            for column in definition.columns {
                do {
                    _ = try forEachRow(matching: query, columns: [column.name]) { row in
                        item.content[column.name] = row.values[0]
                        item.system = row.system
                    }
                } catch let error as StoreError where error.code == .corrupt && mayLeaveOut(column) {}
            }
            return item
        }
    }
}
