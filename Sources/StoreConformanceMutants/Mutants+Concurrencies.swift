// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores with concurrency errors.
    @MutantList static var concurrencies: [StoreMutant] {
        StoreMutant(
            .concurrency, "lost-updates",
            "Bodies of writes run concurrently, and their changes are applied afterwards.",
            killedBy: "concurrent.no-lost-updates", "concurrent.one-writer", "concurrent.operation-ids",
            "concurrent.delete-and-put",
            message: "the count after 8 times 25 increments"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                let changes = try RecordingTransaction.changes(of: body, on: base)
                try base.write { for change in changes { try change($0) } }
            }
        }
        StoreMutant(
            .concurrency, "two-writers", "Bodies of writes run concurrently.",
            killedBy: "concurrent.one-writer", message: "the maximum number of concurrent write bodies"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                let changes = try RecordingTransaction.changes(of: body, on: base)
                try base.write { for change in changes { try change($0) } }
            }
        }
        StoreMutant(
            .concurrency, "dirty-reads", "Each change of a transaction is committed separately.",
            killedBy: "concurrent.whole-transactions", message: "a bank"
        ) { flaw in
            let lock = NSLock()
            flaw.write = { [hits = flaw.hits] base, body in
                lock.lock()
                defer { lock.unlock() }
                hits.hit()
                let changes = try RecordingTransaction.changes(of: body, on: base)
                for change in changes {
                    try base.write { try change($0) }
                    Thread.sleep(forTimeInterval: 0.0002)
                }
            }
        }
        StoreMutant(
            .concurrency, "moving-snapshot", "A snapshot shows later writes.",
            killedBy: "concurrent.snapshot", message: "the snapshot after the writes"
        ) { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                try body(LiveSnapshot(store: base))
            }
        }
        StoreMutant(
            .concurrency, "late-snapshot", "A snapshot is fixed at the first question.",
            killedBy: "concurrent.snapshot.begin", message: "the snapshot that began before the write"
        ) { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                let snapshot = LateSnapshot(store: base)
                defer { snapshot.end() }
                try body(snapshot)
            }
        }
        StoreMutant(
            .concurrency, "snapshot-before-lock",
            "A write takes its snapshot before it waits for other writes.",
            killedBy: "concurrent.write-after-wait", "concurrent.no-lost-updates", "concurrent.operation-ids",
            message: "the count that the write read after it had waited"
        ) { flaw in
            let lock = NSLock()
            flaw.write = { [hits = flaw.hits] base, body in
                hits.hit()
                try RecordingTransaction.write(body, on: base, lockingAfterSnapshot: lock)
            }
        }
        StoreMutant(
            .concurrency, "pieces-in-body",
            "A write of many megabytes is committed in pieces while its body runs.",
            killedBy: "transaction.large", "concurrent.large-write",
            message: "the store after a large write whose body threw"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                let changes = try RecordingTransaction.changes(of: body, on: base, flushingAfter: 10) {
                    piece in
                    hits.hit()
                    try base.write { for change in piece { try change($0) } }
                }
                try base.write { for change in changes { try change($0) } }
            }
        }
        StoreMutant(
            .concurrency, "pieces-at-commit", "A write of many megabytes is committed in pieces at its end.",
            killedBy: "concurrent.large-write", message: "saw a part of a write"
        ) { flaw in
            flaw.write = { [hits = flaw.hits] base, body in
                var changes = try RecordingTransaction.changes(of: body, on: base)[...]
                while !changes.isEmpty {
                    hits.hit()
                    let piece = changes.prefix(10)
                    try base.write { for change in piece { try change($0) } }
                    changes = changes.dropFirst(10)
                    Thread.sleep(forTimeInterval: 0.002)
                }
            }
        }
        StoreMutant(
            .concurrency, "readers-wait", "A read waits for the running write.",
            killedBy: "concurrent.reader-beside-writer", "concurrent.snapshot",
            message: "while the write was running"
        ) { flaw in
            let lock = NSLock()
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                lock.lock()
                defer { lock.unlock() }
                try base.read(body)
            }
            flaw.write = { base, body in
                lock.lock()
                defer { lock.unlock() }
                try base.write(body)
            }
        }
        StoreMutant(
            .concurrency, "lagging-reads", "Some reads return the previous version of an item.",
            killedBy: "concurrent.read-your-writes", message: "the lag of stale reads"
        ) { flaw in
            let old = Shared<[String: Item]>([:])
            flaw.upsert = { transaction, items, table in
                for item in items {
                    if let before = try transaction.item(id: item.id, in: table) {
                        old.change { $0[item.id] = before }
                    }
                }
                try transaction.upsert(items, in: table)
            }
            let count = Shared(0)
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                let number = count.next()
                let right = try snapshot.item(id: id, in: table)
                return number % 3 == 0 ? hits.changing(right, to: old.value[id] ?? right) : right
            }
        }
        StoreMutant(
            .concurrency, "failures-spread", "A failed write rolls back the one before it.",
            killedBy: "concurrent.failed-writes", "transaction.rollback", message: "the number of items"
        ) { flaw in
            let last = Shared<[String]>([])
            flaw.upsert = { transaction, items, table in
                last.change { $0 = items.map(\.id) }
                try transaction.upsert(items, in: table)
            }
            let committed = Shared<[String]>([])
            flaw.write = { [hits = flaw.hits] base, body in
                do {
                    try base.write(body)
                    committed.change { $0 = last.value }
                } catch {
                    hits.hit()
                    try base.write { try $0.deleteItems(ids: committed.value, in: "Thing") }
                    throw error
                }
            }
        }
        StoreMutant(
            .concurrency, "shared-cursor", "Concurrent readers get incomplete results.",
            killedBy: "concurrent.readers",
            message: "results that differ"
        ) { flaw in
            let inside = Shared(0)
            flaw.items = { [hits = flaw.hits] snapshot, query in
                inside.change { $0 += 1 }
                defer { inside.change { $0 -= 1 } }
                Thread.sleep(forTimeInterval: 0.0005)
                let found = try snapshot.items(matching: query)
                guard inside.value > 1 else { return found }
                hits.hit()
                return QueryResult(items: found.items.dropLast(), totalCount: found.totalCount)
            }
        }
    }
}

/// A snapshot that starts a new read for every call.
private struct LiveSnapshot: StoreSnapshot {
    let store: any SyncContextDataSource

    func item(id: String, in table: String) throws -> Item? {
        try store.read { try $0.item(id: id, in: table) }
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        try store.read { try $0.items(matching: query) }
    }

    func operation(id: Int64) throws -> TableOperation? { try store.read { try $0.operation(id: id) } }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try store.read { try $0.operations(after: id, in: table, limit: limit) }
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try store.read { try $0.operations(forItem: itemID, in: table) }
    }

    func operationCount(in table: String?) throws -> Int {
        try store.read { try $0.operationCount(in: table) }
    }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        try store.read { try $0.operationError(operationID: operationID) }
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        try store.read { try $0.operationErrors(in: table) }
    }

    func configValue(_ key: ConfigKey) throws -> String? { try store.read { try $0.configValue(key) } }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        try store.read { try $0.configValues(in: table, kind: kind) }
    }
}
