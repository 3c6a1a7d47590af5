// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The operations of one item are a queue: only the first is sent, and the next ones wait behind it.

extension StoreSnapshot {
    /// Returns the later operations of the same item, in queue order.
    func operations(behind operation: TableOperation) throws -> [TableOperation] {
        try operations(forItem: operation.itemID, in: operation.table).filter { $0.id > operation.id }
    }

    /// Returns the first operation of the same item; `nil` if this is the first one.
    func operation(before operation: TableOperation) throws -> TableOperation? {
        let first = try operations(forItem: operation.itemID, in: operation.table).first
        return first.flatMap { $0.id < operation.id ? $0 : nil }
    }

    /// Returns the operation of the item with that id, and the next one of the item.
    func operationAndNext(
        id: Int64, forItem itemID: String, in table: String
    ) throws -> (operation: TableOperation, next: TableOperation?)? {
        let queue = try operations(forItem: itemID, in: table)
        guard let index = queue.firstIndex(where: { $0.id == id }) else { return nil }
        return (queue[index], queue.dropFirst(index + 1).first)
    }

    /// Returns the next operation of the same item.
    func operation(behind operation: TableOperation) throws -> TableOperation? {
        try operations(behind: operation).first
    }
}

extension StoreTransaction {
    /// Removes an operation from the queue, and its error from the error log.
    func removeOperationAndError(id: Int64) throws {
        try removeOperation(id: id)
        try removeOperationError(operationID: id)
    }
}
