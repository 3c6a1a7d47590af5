// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores whose openings see writes of other openings too early, too late or in part.
    @MutantList static var sharedReads: [StoreMutant] {
        declaring(
            "reads-committed", "A running read sees what other openings commit.",
            killedBy: "capability.multi-process.snapshot", message: "the same read after the commit"
        ) { flaw in
            flaw.shareInProcess()
            let (path, write, opening) = (flaw.path, flaw.write, UUID())
            let otherCommits = { @Sendable in
                Commits.counts.value[path, default: [:]].filter { $0.key != opening }.values.reduce(0, +)
            }
            flaw.write = { base, body in
                try write?(base, body)
                Commits.counts.change { $0[path, default: [:]][opening, default: 0] += 1 }
            }
            flaw.read = { [hits = flaw.hits] base, body in
                let latest = LateSnapshot(store: base)
                defer { latest.end() }
                try base.read { snapshot in
                    let before = otherCommits()
                    let current = CurrentSnapshot(before: snapshot, after: latest) {
                        guard otherCommits() != before else { return false }
                        hits.hit()
                        return true
                    }
                    try body(current)
                }
            }
        }
        declaring(
            "late-shared-snapshot", "A read begins at its first question.",
            killedBy: "capability.multi-process.snapshot.begin",
            message: "asked first in a read that began before the other opening's commit"
        ) { flaw in
            flaw.shareInProcess()
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                let late = LateSnapshot(store: base)
                defer { late.end() }
                try body(late)
            }
        }
        declaring(
            "reads-uncommitted", "Reads of other openings see the items of a running write.",
            killedBy: "capability.multi-process.snapshot",
            message: "a read before the commit of the other opening's change of an item"
        ) { flaw in
            flaw.shareInProcess()
            let (path, write, upsert, items) = (flaw.path, flaw.write, flaw.upsert, flaw.items)
            let isWriting = Shared(false)
            flaw.write = { base, body in
                try write?(base) { transaction in
                    isWriting.change { $0 = true }
                    defer {
                        isWriting.change { $0 = false }
                        Uncommitted.items.change { $0[path] = nil }
                    }
                    try body(transaction)
                }
            }
            flaw.upsert = { transaction, items, table in
                Uncommitted.items.change { all in
                    for item in items { all[path, default: [:]][table + "/" + item.id] = item }
                }
                try upsert?(transaction, items, table)
            }
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let found = try items?(snapshot, query) ?? snapshot.items(matching: query)
                guard !isWriting.value, let new = Uncommitted.items.value[path] else { return found }
                let changed = found.items.map { new[query.table + "/" + $0.id] ?? $0 }
                let ids = found.items.map(\.id)
                let added = new.filter { $0.key.hasPrefix(query.table + "/") && !ids.contains($0.value.id) }
                return hits.changing(
                    found, to: QueryResult(items: changed + added.values, totalCount: found.totalCount))
            }
        }
        declaring(
            "late-shared-queue", "Other openings see the queue of a commit later than its items.",
            killedBy: "capability.multi-process.whole-transactions",
            message: "the numbers of different transactions in one read"
        ) { flaw in
            flaw.shareInProcess()
            let (path, write) = (flaw.path, flaw.write)
            let isWriting = Shared(false)
            flaw.write = { base, body in
                try write?(base) { transaction in
                    let queue = try transaction.operations(after: 0, in: nil, limit: .max)
                    Uncommitted.queues.change { $0[path] = queue }
                    isWriting.change { $0 = true }
                    try body(transaction)
                }
                Thread.sleep(forTimeInterval: 0.0005)
                isWriting.change { $0 = false }
                Uncommitted.queues.change { $0[path] = nil }
            }
            flaw.read = { [hits = flaw.hits] base, body in
                try base.read { snapshot in
                    let late = SnapshotOfQueue(snapshot: snapshot) {
                        isWriting.value ? nil : Uncommitted.queues.value[path]
                    } onUse: {
                        hits.hit()
                    }
                    try body(late)
                }
            }
        }
    }
}

/// The number of commits of each opening, by the path of the store.
private enum Commits {
    static let counts = Shared<[String: [UUID: Int]]>([:])
}

/// Data of running writes, by the path of the store.
private enum Uncommitted {
    static let items = Shared<[String: [String: Item]]>([:])
    static let queues = Shared<[String: [TableOperation]]>([:])
}

/// A snapshot that is replaced by a later one.
private struct CurrentSnapshot: ForwardingSnapshot {
    let before: any StoreSnapshot
    let after: any StoreSnapshot
    let isReplaced: () -> Bool

    init(before: any StoreSnapshot, after: any StoreSnapshot, isReplaced: @escaping () -> Bool) {
        (self.before, self.after, self.isReplaced) = (before, after, isReplaced)
    }

    var snapshot: any StoreSnapshot { isReplaced() ? after : before }
}

/// A snapshot whose list of all operations is replaced by another one.
private struct SnapshotOfQueue: ForwardingSnapshot {
    let snapshot: any StoreSnapshot
    let queue: () -> [TableOperation]?
    let onUse: () -> Void

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        guard id == 0, table == nil, let queue = queue() else {
            return try snapshot.operations(after: id, in: table, limit: limit)
        }
        onUse()
        return Array(queue.prefix(limit))
    }
}
