// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in the operation queue.
    @MutantList static var queues: [StoreMutant] {
        StoreMutant(
            .queue, "id-after-drain", "When the queue is empty, operation ids restart.",
            killedBy: "queue.last-id.removal", "queue.last-id.inside", "concurrent.delete-and-put",
            message: "after"
        ) { flaw in
            flaw.lastOperationID = { [hits = flaw.hits] transaction in
                let last = try transaction.operations(after: 0, in: nil, limit: .max).last?.id ?? 0
                return hits.changing(try transaction.lastOperationID(), to: last)
            }
        }
        StoreMutant(
            .queue, "id-of-last-put", "The last operation id is that of the latest put.",
            killedBy: "queue.last-id", message: "after putting 3"
        ) { flaw in
            let last = Shared<Int64>(0)
            flaw.putOperation = { transaction, operation in
                last.change { $0 = operation.id }
                try transaction.put(operation)
            }
            flaw.lastOperationID = { [hits = flaw.hits] transaction in
                hits.changing(try transaction.lastOperationID(), to: last.value)
            }
        }
        StoreMutant(
            .queue, "id-counts", "The last operation id is the number of puts.", killedBy: "queue.last-id",
            "queue.ids.large", message: "after putting 5"
        ) { flaw in
            let count = Shared<Int64>(0)
            flaw.putOperation = { transaction, operation in
                count.change { $0 += 1 }
                try transaction.put(operation)
            }
            flaw.lastOperationID = { [hits = flaw.hits] transaction in
                hits.changing(try transaction.lastOperationID(), to: count.value)
            }
        }
        StoreMutant(
            .queue, "id-from-one", "A new store's last operation id is 1.", killedBy: "queue.empty",
            message: "the last operation id"
        ) { flaw in
            flaw.lastOperationID = { [hits = flaw.hits] transaction in
                let last = try transaction.lastOperationID()
                return hits.changing(last, to: max(1, last))
            }
        }
        StoreMutant(
            .queue, "last-first", "The queue is in descending order.", killedBy: "queue.order",
            "queue.put.replaces", message: "the queue"
        ) {
            $0.changingQueue { $0.reversed() }
        }
        StoreMutant(
            .queue, "ids-as-text", "Operations are ordered by their ids as strings.", killedBy: "queue.order",
            message: "the queue"
        ) {
            $0.changingQueue { $0.sorted { "\($0.id)" < "\($1.id)" } }
        }
        StoreMutant(
            .queue, "by-table", "Operations are ordered by table.", killedBy: "queue.order.all-tables",
            message: "the queue of all tables"
        ) {
            $0.changingQueue { $0.sorted { ($0.table, $0.id) < ($1.table, $1.id) } }
        }
        StoreMutant(
            .queue, "after-included", "A page includes the operation that it must start after.",
            killedBy: "queue.after", "queue.limit", message: "after 4"
        ) { flaw in
            flaw.operations = { [hits = flaw.hits] snapshot, id, table, limit in
                let right = try snapshot.operations(after: id, in: table, limit: limit)
                return hits.changing(
                    right, to: try snapshot.operations(after: id - 1, in: table, limit: limit))
            }
        }
        StoreMutant(
            .queue, "no-limit", "A page has no limit.", killedBy: "queue.limit", message: "a page of 3"
        ) { flaw in
            flaw.operations = { [hits = flaw.hits] snapshot, id, table, limit in
                let right = try snapshot.operations(after: id, in: table, limit: limit)
                return hits.changing(right, to: try snapshot.operations(after: id, in: table, limit: .max))
            }
        }
        StoreMutant(
            .queue, "limit-before-table", "The limit includes operations of other tables.",
            killedBy: "queue.limit", message: "a page of a table"
        ) { flaw in
            flaw.operations = { [hits = flaw.hits] snapshot, id, table, limit in
                let right = try snapshot.operations(after: id, in: table, limit: limit)
                let all = try snapshot.operations(after: id, in: nil, limit: limit)
                return hits.changing(right, to: all.filter { table?.hasSameBytes(as: $0.table) ?? true })
            }
        }
        StoreMutant(
            .queue, "cut-at-4096", "The queue is truncated to 4096 operations.", killedBy: "size.queue-5k",
            message: "the queue"
        ) {
            $0.changingQueue { Array($0.prefix(4096)) }
        }
        StoreMutant(
            .queue, "table-looks-alike", "Tables with canonically equivalent names share a queue.",
            killedBy: "queue.table",
            "corpus.operation", message: "e\\u{301}"
        ) { flaw in
            flaw.operations = { [hits = flaw.hits] snapshot, id, table, limit in
                let right = try snapshot.operations(after: id, in: table, limit: limit)
                let all = try snapshot.operations(after: id, in: nil, limit: .max).filter {
                    table == nil || $0.table == table
                }
                return hits.changing(right, to: Array(all.prefix(limit)))
            }
        }
        StoreMutant(
            .queue, "item-looks-alike", "Items with canonically equivalent ids share operations.",
            killedBy: "queue.of-item.bytes", "corpus.operation", message: "e\\u{301}"
        ) { flaw in
            flaw.operationsOfItem = { [hits = flaw.hits] snapshot, id, table in
                let right = try snapshot.operations(forItem: id, in: table)
                let all = try snapshot.operations(after: 0, in: table, limit: .max)
                return hits.changing(right, to: all.filter { $0.itemID == id })
            }
        }
        StoreMutant(
            .queue, "one-for-an-item", "An item has at most one operation.", killedBy: "queue.of-item",
            "queue.put.kinds", message: "the operations of 'a'"
        ) { flaw in
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                for other in try transaction.operations(forItem: operation.itemID, in: operation.table)
                where other.id != operation.id {
                    hits.hit()
                    try transaction.removeOperation(id: other.id)
                }
                try transaction.put(operation)
            }
        }
        StoreMutant(
            .queue, "of-any-table", "The operations of an item are those of its id in any table.",
            killedBy: "queue.of-item", message: "the operations of 'a'"
        ) { flaw in
            flaw.operationsOfItem = { [hits = flaw.hits] snapshot, id, table in
                let right = try snapshot.operations(forItem: id, in: table)
                let all = try snapshot.operations(after: 0, in: nil, limit: .max)
                return hits.changing(right, to: all.filter { $0.itemID.hasSameBytes(as: id) })
            }
        }
        StoreMutant(
            .queue, "stays", "An operation put again for another item is not changed.",
            killedBy: "queue.put.moves", message: "of a"
        ) { flaw in
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                if let old = try transaction.operation(id: operation.id), old.itemID != operation.itemID {
                    return hits.hit()
                }
                try transaction.put(operation)
            }
        }
        StoreMutant(
            .queue, "count-of-puts", "Counts do not decrease.", killedBy: "queue.count", "queue.remove",
            message: ""
        ) { flaw in
            let removed = Shared(0)
            flaw.removeOperation = { transaction, id in
                if try transaction.operation(id: id) != nil { removed.change { $0 += 1 } }
                try transaction.removeOperation(id: id)
            }
            flaw.operationCount = { [hits = flaw.hits] snapshot, table in
                let count = try snapshot.operationCount(in: table)
                return hits.changing(count, to: count + removed.value)
            }
        }
        StoreMutant(
            .queue, "count-of-all", "The count of a table is that of all tables.", killedBy: "queue.count",
            message: "of Thing2"
        ) { flaw in
            flaw.operationCount = { [hits = flaw.hits] snapshot, table in
                hits.changing(
                    try snapshot.operationCount(in: table), to: try snapshot.operationCount(in: nil))
            }
        }
        StoreMutant(
            .queue, "keeps-first", "Putting an operation again changes nothing.",
            killedBy: "queue.put.replaces", message: "the operation"
        ) { flaw in
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                if try transaction.operation(id: operation.id) == nil {
                    try transaction.put(operation)
                } else {
                    hits.hit()
                }
            }
        }
        StoreMutant(
            .queue, "no-snapshots", "Base and sent snapshot are not stored.", killedBy: "queue.put.exact",
            message: "the operation by its id"
        ) {
            $0.changingStoredOperation { ($0.base, $0.sent) = (nil, nil) }
        }
        StoreMutant(
            .queue, "no-adoption", "Whether an insert is adopted is not stored.",
            killedBy: "queue.put.exact", message: "the operation by its id"
        ) {
            $0.changingStoredOperation { $0.isAdopted = false }
        }
        StoreMutant(
            .queue, "no-performance", "Whether a delegate has begun to insert the row is not stored.",
            killedBy: "queue.put.exact", message: "the operation by its id"
        ) {
            $0.changingStoredOperation { $0.isPerformed = false }
        }
        StoreMutant(
            .queue, "no-change-time", "The time of the change is not stored.", killedBy: "queue.put.exact",
            message: "the operation by its id"
        ) {
            $0.changingStoredOperation { $0.changedAt = nil }
        }
        StoreMutant(
            .queue, "always-pending", "The state is not stored.", killedBy: "queue.put.kinds",
            message: "the queue"
        ) {
            $0.changingStoredOperation { $0.state = .pending }
        }
        StoreMutant(
            .queue, "ids-32", "Operation ids have 32 bits.", killedBy: "queue.ids.large", message: "the queue"
        ) { flaw in
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                guard operation.id > Int32.max else { return try transaction.put(operation) }
                hits.hit()
                let id = Int64(Int32(truncatingIfNeeded: operation.id))
                try transaction.put(
                    TableOperation(
                        id: id, table: operation.table, itemID: operation.itemID, kind: operation.kind))
            }
        }
        StoreMutant(
            .queue, "undeclared-refused", "Operations of undeclared tables are refused.",
            killedBy: "queue.undeclared-table", "open.no-tables", message: "no error"
        ) { flaw in
            flaw.putOperation = { [hits = flaw.hits] transaction, operation in
                do { _ = try transaction.item(id: "a", in: operation.table) } catch {
                    hits.hit()
                    throw error
                }
                try transaction.put(operation)
            }
        }
        StoreMutant(
            .queue, "removal-of-error", "Removing an operation removes its error.",
            killedBy: "queue.remove.keeps-error", message: "the error"
        ) { flaw in
            flaw.removeOperation = { [hits = flaw.hits] transaction, id in
                if try transaction.operationError(operationID: id) != nil { hits.hit() }
                try transaction.removeOperation(id: id)
                try transaction.removeOperationError(operationID: id)
            }
        }
        StoreMutant(
            .queue, "removes-next", "Removing a missing operation removes the first one.",
            killedBy: "queue.remove.missing", message: "the store"
        ) { flaw in
            flaw.removeOperation = { [hits = flaw.hits] transaction, id in
                guard try transaction.operation(id: id) == nil,
                    let first = try transaction.operations(after: 0, in: nil, limit: 1).first
                else { return try transaction.removeOperation(id: id) }
                hits.hit()
                try transaction.removeOperation(id: first.id)
            }
        }
        StoreMutant(
            .queue, "blind-inside", "A transaction does not see the operations that it has put.",
            killedBy: "queue.inside", message: "the queue"
        ) { flaw in
            let own = Shared<Set<Int64>>([])
            flaw.write = { base, body in
                own.change { $0 = [] }
                try base.write(body)
                own.change { $0 = [] }
            }
            flaw.putOperation = { transaction, operation in
                own.change { $0.insert(operation.id) }
                try transaction.put(operation)
            }
            flaw.changingQueue { $0.filter { !own.value.contains($0.id) } }
        }
    }
}

extension StoreFlaw {
    /// Changes the operations that a page returns.
    fileprivate mutating func changingQueue(
        _ change: @escaping @Sendable ([TableOperation]) -> [TableOperation]
    ) {
        operations = { [hits] snapshot, id, table, limit in
            let right = try snapshot.operations(after: id, in: table, limit: limit)
            return hits.changing(right, to: change(right))
        }
    }

    /// Changes operations before they are stored.
    fileprivate mutating func changingStoredOperation(
        _ change: @escaping @Sendable (inout TableOperation) -> Void
    ) {
        putOperation = { [hits] transaction, operation in
            var changed = operation
            change(&changed)
            try transaction.put(hits.changing(operation, to: changed))
        }
    }
}
