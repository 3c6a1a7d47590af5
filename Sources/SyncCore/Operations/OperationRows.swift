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
    init?(_ values: Values) {
        if values.base == nil, values.serverItem == nil, values.deletedItem == nil, values.sent == nil {
            return nil
        }
        self.values = values
    }

    static func == (left: OperationRows, right: OperationRows) -> Bool {
        left === right || left.values == right.values
    }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
