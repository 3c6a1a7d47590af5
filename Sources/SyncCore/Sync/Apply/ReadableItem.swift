// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension StoreSnapshot {
    /// Returns the item; without the fields that cannot be read, if the app that writes to its table as well has stored
    /// values of other types there. A row of the server with these columns replaces them.
    ///
    /// - Throws: the errors of ``StoreSnapshot/item(id:in:)``; ``StoreError/Code/corrupt`` only for a value that no row of the
    ///   server replaces: that of a local-only column.
    func readableItem(id: String, in definition: SyncTableDefinition) throws -> Item? {
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
                } catch let error as StoreError where error.code == .corrupt && !column.isLocalOnly {}
            }
            return item
        }
    }
}
