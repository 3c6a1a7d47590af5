// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores whose items and queue are of different states in one read.
    @MutantList static var visibilities: [StoreMutant] {
        StoreMutant(
            .concurrency, "queue-after-items", "A commit publishes the items first and the queue afterwards.",
            killedBy: "concurrent.whole-transactions.every-kind",
            message: "the numbers of different transactions in one read"
        ) { flaw in
            let lock = NSLock()
            let queueChanges = Shared<[RecordingTransaction.Change]>([])
            flaw.putOperation = { _, operation in
                queueChanges.change { changes in changes.append { try $0.put(operation) } }
            }
            flaw.removeOperation = { _, id in
                queueChanges.change { changes in changes.append { try $0.removeOperation(id: id) } }
            }
            flaw.write = { [hits = flaw.hits] base, body in
                lock.lock()
                defer { lock.unlock() }
                queueChanges.change { $0 = [] }
                try base.write(body)
                let changes = queueChanges.value
                guard !changes.isEmpty else { return }
                hits.hit()
                Thread.sleep(forTimeInterval: 0.0002)
                try base.write { for change in changes { try change($0) } }
            }
        }
        StoreMutant(
            .concurrency, "late-queue", "The queue's snapshot is fixed at its first question.",
            killedBy: "concurrent.snapshot.begin", message: "the operations, asked first in the snapshot"
        ) { flaw in
            flaw.read = { [hits = flaw.hits] base, body in
                hits.hit()
                let queue = LateSnapshot(store: base)
                defer { queue.end() }
                try base.read { try body(LateQueue(snapshot: $0, queue: queue)) }
            }
        }
    }
}

/// A snapshot whose queue is that of another snapshot.
private struct LateQueue: ForwardingSnapshot {
    let snapshot: any StoreSnapshot
    let queue: LateSnapshot

    func operation(id: Int64) throws -> TableOperation? { try queue.operation(id: id) }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try queue.operations(after: id, in: table, limit: limit)
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try queue.operations(forItem: itemID, in: table)
    }

    func operationCount(in table: String?) throws -> Int { try queue.operationCount(in: table) }
}
