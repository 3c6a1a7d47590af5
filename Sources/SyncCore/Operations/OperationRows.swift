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

    private init(_ values: Values) { self.values = values }

    /// Returns `nil` if there are no rows: most operations of a batch have none. An initializer that fails would allocate
    /// the object first.
    static func make(
        base: Item?, serverItem: Item?, deletedItem: Item?, sent: TableOperation.SentSnapshot?
    ) -> OperationRows? {
        if base == nil, serverItem == nil, deletedItem == nil, sent == nil { return nil }
        return OperationRows(
            Values(base: base, serverItem: serverItem, deletedItem: deletedItem, sent: sent))
    }

    static func == (left: OperationRows, right: OperationRows) -> Bool {
        left === right || left.values == right.values
    }

    func hash(into hasher: inout Hasher) { hasher.combine(values) }
}
