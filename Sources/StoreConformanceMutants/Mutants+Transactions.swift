// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Transactions that are not atomic.
    @MutantList static var transactions: [StoreMutant] {
        StoreMutant(
            .transaction, "half-applied", "The changes before an error are committed.",
            killedBy: "transaction.rollback", "transaction.rollback.items",
            "transaction.rollback.deletes", "transaction.rollback.then-write", "transaction.rollback.queue",
            "error.partial",
            "fault.every-change", "fault.commit", "fault.interleaved", "queue.last-id.rollback",
            "concurrent.failed-writes",
            message: "a body that threw at its end"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                let failure = Shared<(any Error)?>(nil)
                try base.write { transaction in
                    do { try body(transaction) } catch {
                        hits.hit()
                        failure.change { $0 = error }
                    }
                }
                if let error = failure.value { throw error }
            }
        }
        StoreMutant(
            .transaction, "long-half-applied",
            "A transaction of more than five hundred deletes is not rolled back.",
            killedBy: "transaction.long",
            message: "after a failed transaction"
        ) { flaw in
            let count = Shared(0)
            flaw.deleteIDs = { transaction, ids, table in
                count.change { $0 += 1 }
                try transaction.deleteItems(ids: ids, in: table)
            }
            flaw.write = { [hits = flaw.hits] base, body in
                count.change { $0 = 0 }
                let failure = Shared<(any Error)?>(nil)
                try base.write { transaction in
                    do { try body(transaction) } catch {
                        guard count.value > 500 else { throw error }
                        hits.hit()
                        failure.change { $0 = error }
                    }
                }
                if let error = failure.value { throw error }
            }
        }
        StoreMutant(
            .transaction, "queue-stays", "The operations of a failed transaction are not rolled back.",
            killedBy: "transaction.rollback.queue", "queue.last-id.rollback", message: "the queue"
        ) { flaw in
            let put = Shared<[TableOperation]>([])
            flaw.putOperation = { transaction, operation in
                put.change { $0.append(operation) }
                try transaction.put(operation)
            }
            flaw.write = { [hits = flaw.hits] base, body in
                put.change { $0 = [] }
                do { try base.write(body) } catch {
                    if !put.value.isEmpty { hits.hit() }
                    try base.write { for operation in put.value { try $0.put(operation) } }
                    throw error
                }
            }
        }
        StoreMutant(
            .transaction, "twice", "A body runs twice.", killedBy: "transaction.once", "fault.none",
            message: "runs of"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                try base.write { transaction in
                    try body(transaction)
                    try body(transaction)
                }
            }
        }
        StoreMutant(
            .transaction, "reads-twice", "The body of a read runs twice.",
            killedBy: "transaction.once", message: "runs of a read's body"
        ) { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                try base.read(body)
                try base.read(body)
            }
        }
        StoreMutant(
            .transaction, "wraps-errors", "The body's error is replaced by a store error.",
            killedBy: "transaction.error", message: "AppError(1)"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                do { try base.write(body) } catch {
                    hits.hit()
                    throw StoreError(.inputOutput, "The transaction failed.", cause: error)
                }
            }
        }
        StoreMutant(
            .transaction, "empty-refused", "A write without changes is an error.",
            killedBy: "transaction.nothing", message: "no error"
        ) { flaw in
            let changes = Shared(0)
            flaw.upsert = { transaction, items, table in
                changes.change { $0 += 1 }
                try transaction.upsert(items, in: table)
            }
            flaw.lastOperationID = { transaction in
                changes.change { $0 += 1 }
                return try transaction.lastOperationID()
            }
            flaw.write = { [hits = flaw.hits] base, body in
                changes.change { $0 = 0 }
                try base.write(body)
                if changes.value == 0 {
                    hits.hit()
                    throw StoreError(.inputOutput, "Nothing was written.")
                }
            }
        }
        StoreMutant(
            .transaction, "no-error-log", "Errors are not stored.",
            killedBy: "transaction.together", "log.exact", message: "the error"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] _, _ in hits.hit() }
        }
        StoreMutant(
            .transaction, "no-result", "After a failed read, the next one fails too.",
            killedBy: "transaction.read-error", "close.after-error", message: "no error"
        ) { flaw in
            let isPoisoned = Shared(false)
            flaw.read = { [hits = flaw.hits] base, body in
                if isPoisoned.value {
                    hits.hit()
                    throw StoreError(.inputOutput, "An earlier read failed.")
                }
                do { try base.read(body) } catch {
                    isPoisoned.change { $0 = true }
                    throw error
                }
            }
            flaw.close = { base in
                try base.close()
                if isPoisoned.value { throw StoreError(.inputOutput, "An earlier read failed.") }
            }
        }
        StoreMutant(
            .transaction, "writes-fail", "Every write is refused.", killedBy: "transaction.result",
            "fault.after-commit", message: "no error"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] _, _ in
                hits.hit()
                throw StoreError(.full, "The store is full.")
            }
        }
    }
}
