// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores with wrong errors.
    @MutantList static var errors: [StoreMutant] {
        StoreMutant(
            .errors, "unknown-table-ignored", "An unknown table reads as empty.",
            killedBy: "query.unknown-table", message: "reading an item of 'Nothing'"
        ) { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                do { return try snapshot.item(id: id, in: table) } catch {
                    hits.hit()
                    return nil
                }
            }
        }
        StoreMutant(
            .errors, "upsert-ignored", "An upsert into an unknown table does nothing.",
            killedBy: "query.unknown-table", "error.partial", message: "an upsert into 'Nothing'"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                do { try transaction.upsert(items, in: table) } catch { hits.hit() }
            }
        }
        StoreMutant(
            .errors, "empty-unchecked", "An empty upsert is not checked.", killedBy: "query.unknown-table",
            message: "an empty upsert into 'Nothing'"
        ) { flaw in
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if items.isEmpty { hits.hit() } else { try transaction.upsert(items, in: table) }
            }
        }
        StoreMutant(
            .errors, "other-type", "An unknown table throws a store error.", killedBy: "query.unknown-table",
            message: "SyncError with code -2003"
        ) { flaw in
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                do { return try snapshot.item(id: id, in: table) } catch is SyncError {
                    hits.hit()
                    throw StoreError(.inputOutput, "There is no table '\(table)'.")
                }
            }
        }
        StoreMutant(
            .errors, "stays-failed", "After a failed write, all writes fail.",
            killedBy: "transaction.rollback.then-write", "error.usable", "fault.interleaved",
            message: "no error"
        ) { flaw in
            let hasFailed = Shared(false)
            flaw.write = { [hits = flaw.hits] base, body in
                if hasFailed.value {
                    hits.hit()
                    throw StoreError(.inputOutput, "An earlier write failed.")
                }
                do { try base.write(body) } catch {
                    hasFailed.change { $0 = true }
                    throw error
                }
            }
        }
        StoreMutant(
            .errors, "mute", "Errors have no message.", killedBy: "error.message", message: "The message"
        ) { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                do { try base.read(body) } catch let error as StoreError {
                    hits.hit()
                    throw StoreError(error.code, "")
                }
            }
        }
        StoreMutant(
            .errors, "poisoned", "After an error that the body handles, the transaction refuses upserts.",
            killedBy: "error.swallowed", message: "no error"
        ) { flaw in
            let isPoisoned = Shared(false)
            flaw.write = { base, body in
                isPoisoned.change { $0 = false }
                try base.write(body)
            }
            flaw.item = { snapshot, id, table in
                do { return try snapshot.item(id: id, in: table) } catch {
                    isPoisoned.change { $0 = true }
                    throw error
                }
            }
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if isPoisoned.value {
                    hits.hit()
                    throw StoreError(.inputOutput, "The transaction has failed.")
                }
                try transaction.upsert(items, in: table)
            }
        }
        StoreMutant(
            .errors, "poisoned-read", "After an error in a read, the snapshot returns no items.",
            killedBy: "error.empty-catch", message: "the item"
        ) { flaw in
            let isPoisoned = Shared(false)
            flaw.read = { base, body in
                isPoisoned.change { $0 = false }
                try base.read(body)
            }
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                if isPoisoned.value { return hits.changing(try snapshot.item(id: id, in: table), to: nil) }
                do { return try snapshot.item(id: id, in: table) } catch {
                    isPoisoned.change { $0 = true }
                    throw error
                }
            }
        }
        StoreMutant(
            .errors, "failed-read-commits", "A write whose body throws the error of a read is committed.",
            killedBy: "fault.read", message: "the store after a write that failed because it read an item"
        ) { flaw in
            let hasFailed = Shared(false)
            flaw.write = { [hits = flaw.hits] base, body in
                hasFailed.change { $0 = false }
                var failure: (any Error)?
                try base.write { transaction in
                    do { try body(transaction) } catch {
                        guard hasFailed.value else { throw error }
                        hits.hit()
                        failure = error
                    }
                }
                if let failure { throw failure }
            }
            flaw.item = { snapshot, id, table in
                do { return try snapshot.item(id: id, in: table) } catch {
                    hasFailed.change { $0 = true }
                    throw error
                }
            }
        }
        StoreMutant(
            .errors, "rows-stop", "A write ignores the error of the body that reads rows.",
            killedBy: "fault.read", message: "a write that reads rows whose body throws"
        ) { flaw in
            let isWriting = Shared(false)
            flaw.write = { base, body in
                isWriting.change { $0 = true }
                defer { isWriting.change { $0 = false } }
                try base.write(body)
            }
            flaw.forEachRow = { [hits = flaw.hits] snapshot, query, columns, body in
                var hasThrown = false
                do {
                    return try snapshot.forEachRow(matching: query, columns: columns) { row in
                        do { try body(row) } catch {
                            hasThrown = true
                            throw error
                        }
                    }
                } catch {
                    guard hasThrown, isWriting.value else { throw error }
                    hits.hit()
                    return nil
                }
            }
        }
        StoreMutant(
            .errors, "count-forgotten", "The operation count is always 0.",
            killedBy: "fault.read", "queue.count", message: ""
        ) { flaw in
            flaw.operationCount = { [hits = flaw.hits] snapshot, table in
                hits.changing(try snapshot.operationCount(in: table), to: 0)
            }
        }
    }
}
