// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Opens a large store, reads an item and counts the pending operations.
enum Opening {
    static func open(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let (count, pending) = (scale.of(1_000_000), scale.of(100_000))
        let kinds: [StoreKind] = [.sqlite, .lmdb]
        return Benchmark(
            name: "open", title: "Open a store of \(count) items and \(pending) pending operations", count: 1,
            unit: "opening",
            contenders: kinds.map { kind in
                let path = Shared {
                    let path = directory.path("store")
                    let store = try kind.open(at: path)
                    try store.fill(count: count)
                    try store.fillQueue(count: pending)
                    try store.close()
                    return path
                }
                return Contender(kind.rawValue) { trial in
                    let path = try await path.value()
                    let (context, found) = try await trial.measure {
                        let store = try kind.open(at: path)
                        let context = SyncContext(store)
                        let item = try await context.table(TodoRow.table).item(id: TodoRow(count / 2).id)
                        return (context, try await context.pendingOperationCount() + (item == nil ? 1 : 0))
                    }
                    try await context.close()
                    guard found == pending else {
                        throw WrongResult("The store has \(found) operations instead of \(pending).")
                    }
                    return found
                }
            },
            lines: kinds.map { ReportLine($0.rawValue, goals: [.seconds(0.05)]) }, maxRounds: 5)
    }
}

extension SyncContextDataSource {
    /// Adds a number of operations, of items that do not exist, to the queue.
    func fillQueue(count: Int) throws {
        for start in stride(from: 0, to: count, by: 10_000) {
            try write { transaction in
                for number in start..<min(start + 10_000, count) {
                    try transaction.put(
                        TableOperation(
                            id: Int64(number + 1), table: TodoRow.table,
                            itemID: TodoRow.randomID(-1 - number), kind: .delete, version: "1"))
                }
            }
        }
    }
}
