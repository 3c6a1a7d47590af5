// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Transactions that are not all or nothing.
    @MutantList static var transactions: [StoreMutant] {
        StoreMutant(
            .transaction, "half-applied", "What came before the error is kept.",
            killedBy: "transaction.rollback", "transaction.rollback.items",
            "transaction.rollback.deletes", "transaction.rollback.then-write", "transaction.rollback.queue",
            "error.partial",
            "fault.every-change", "fault.commit", "fault.interleaved", "queue.last-id.rollback",
            "concurrent.failed-writes",
            saying: "a body that threw at its end"
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
            "A transaction of more than five hundred upserts is not undone.", killedBy: "transaction.long",
            saying: "after one that failed"
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
            .transaction, "queue-stays", "Operations of a transaction that failed stay.",
            killedBy: "transaction.rollback.queue", "queue.last-id.rollback", saying: "the queue"
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
            saying: "runs of"
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
            .transaction, "reads-twice", "A read that is asked runs its body twice.",
            killedBy: "transaction.once", saying: "runs of a read's body"
        ) { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                try base.read(body)
                try base.read(body)
            }
        }
        StoreMutant(
            .transaction, "wraps-errors", "What a body throws comes out as a store error.",
            killedBy: "transaction.error", saying: "AppError(1)"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                do { try base.write(body) } catch {
                    hits.hit()
                    throw StoreError(.inputOutput, "The transaction failed.", cause: error)
                }
            }
        }
        StoreMutant(
            .transaction, "empty-refused", "A write that changes nothing is an error.",
            killedBy: "transaction.nothing", saying: "no error"
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
            .transaction, "no-error-log", "The error log of a transaction is lost.",
            killedBy: "transaction.together", "log.exact", saying: "the error"
        ) { flaw in
            flaw.putError = { [hits = flaw.hits] _, _ in hits.hit() }
        }
        StoreMutant(
            .transaction, "no-result", "After a failed read, the next one fails too.",
            killedBy: "transaction.read-error", "close.after-error", saying: "no error"
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
            "fault.after-commit", saying: "no error"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] _, _ in
                hits.hit()
                throw StoreError(.full, "There is no room.")
            }
        }
    }
}
