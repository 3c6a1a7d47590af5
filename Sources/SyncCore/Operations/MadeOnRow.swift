// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableOperation {
    /// Whether the update is of an item whose earlier state is unknown, because the app has changed its database itself:
    /// every field counts as changed.
    var hasUnknownBase: Bool { kind == .update && base == nil }

    /// The version of the server's row that the change was made on; ``version`` can be that of an older copy of the item.
    var versionMadeOn: String? { base?.system.version ?? version }

    /// The server's row that the change was made on, to tell its states apart.
    ///
    /// A change that the app has made in its own database has no base. Its item has the system properties of the row, unless
    /// the app has inserted it again, but not the row's fields, which are left out.
    ///
    /// - Parameter item: the stored item.
    func rowMadeOn(_ item: Item?) -> Item? {
        let changed =
            switch kind {
            case .insert: Item?.none
            case .update: item
            case .delete: deletedItem
            }
        return base ?? changed.map { Item(id: $0.id, system: $0.system) }
    }
}
