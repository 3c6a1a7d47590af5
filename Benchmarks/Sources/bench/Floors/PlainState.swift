// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The floor of the memory store: dictionaries, without transactions and order.
struct PlainState {
    private(set) var items: [String: Item] = [:]
    private(set) var operations: [String: TableOperation] = [:]

    mutating func put(_ item: Item) { items[item.id] = item }

    mutating func put(_ operation: TableOperation) { operations[operation.itemID] = operation }

    var checksum: Int {
        items.values.reduce(7919 * operations.count) { sum, item in
            sum &+ 1_000_003 &+ Int(item["priority"]?.intValue ?? 0)
        }
    }
}
