// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Divides a push into rounds over the queue, so that the server never has a child without its parent.
///
/// Tables without parents and children are in the first round, in queue order. Of the others, parents are inserted and
/// updated before their children, and deleted after them.
struct PushOrder: Sendable {
    private let depths: [String: Int]
    private let deepest: Int

    init(_ catalog: TableCatalog) {
        depths = catalog.depths
        deepest = depths.values.max() ?? 0
    }

    /// The numbers of all rounds.
    var rounds: Range<Int> { 0..<(deepest == 0 ? 1 : 2 * deepest + 2) }

    /// Returns the round in which an operation is sent.
    func round(of operation: TableOperation) -> Int {
        guard let depth = depths[operation.table] else { return 0 }
        return operation.kind == .delete ? 2 * deepest + 1 - depth : depth
    }

    /// Whether an operation belongs to a later round than when a push has begun it: it has become a delete, and children may have
    /// to be deleted first.
    static func postpones(
        _ operation: TableOperation, begunAs begun: TableOperation, in catalog: TableCatalog
    )
        -> Bool
    {
        guard operation.kind != begun.kind else { return false }
        let order = PushOrder(catalog)
        return order.round(of: operation) > order.round(of: begun)
    }
}
