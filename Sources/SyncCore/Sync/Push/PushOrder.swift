// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// In which rounds a push goes through the queue, so that a server never sees a child without its parent.
///
/// Tables that declare no parents, and are none, are all in the first round: there the queue alone decides. Of the
/// others, parents are inserted and updated before their children, and deleted after them.
struct PushOrder: Sendable {
    private let depths: [String: Int]
    private let deepest: Int

    init(_ tables: [SyncTableDefinition]) {
        var depths: [String: Int] = [:]
        let parents = Dictionary(
            tables.map { ($0.name, $0.parents) }, uniquingKeysWith: { first, _ in first })
        func depth(of table: String) -> Int {
            if let known = depths[table] { return known }
            let depth = (parents[table] ?? []).map { depth(of: $0) + 1 }.max() ?? 0
            depths[table] = depth
            return depth
        }
        for table in tables where !table.parents.isEmpty { _ = depth(of: table.name) }
        self.depths = depths
        deepest = depths.values.max() ?? 0
    }

    /// The rounds, in order.
    var rounds: Range<Int> { 0..<(deepest == 0 ? 1 : 2 * deepest + 2) }

    /// The round in which an operation is sent.
    func round(of operation: TableOperation) -> Int {
        guard let depth = depths[operation.table] else { return 0 }
        return operation.kind == .delete ? 2 * deepest + 1 - depth : depth
    }
}
