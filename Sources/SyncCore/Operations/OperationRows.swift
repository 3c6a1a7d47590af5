// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The rows that an operation keeps, shared by its copies: an operation is copied often, and its rows change rarely.
final class OperationRows: Sendable, Hashable {
    struct Values: Sendable, Hashable {
        var base: Item?
        var serverItem: Item?
        var deletedItem: Item?
        var sent: TableOperation.SentSnapshot?
    }

    let values: Values

    /// Returns `nil` if there are no rows.
    convenience init?(_ values: Values) {
        self.init(
            base: values.base, serverItem: values.serverItem, deletedItem: values.deletedItem,
            sent: values.sent)
    }

    /// Returns `nil` if there are no rows.
    init?(base: Item?, serverItem: Item?, deletedItem: Item?, sent: TableOperation.SentSnapshot?) {
        if base == nil, serverItem == nil, deletedItem == nil, sent == nil { return nil }
        values = Values(base: base, serverItem: serverItem, deletedItem: deletedItem, sent: sent)
    }

    static func == (left: OperationRows, right: OperationRows) -> Bool {
        left === right || left.values == right.values
    }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
