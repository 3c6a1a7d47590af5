// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import StoreSQLite
import SyncCore

/// Local writes: an item and its operation in one transaction.
enum LocalWrites {
    /// Inserts in batches: ours are as many concurrent calls, which the context commits together.
    static func insertInBatches(_ scale: Scale) -> Benchmark {
        let (count, batch) = (scale.of(20_000), 1000)
        let todos = (0..<count).map { number in
            var todo = TodoRow(number)
            todo.id = TodoRow.orderedID(number)
            return todo
        }
        return Benchmark(
            name: "local-write.insert.batch", title: "Insert \(count) items, \(batch) to a transaction",
            count: count, unit: "item with its operation",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let context = try kind.context(trial)
                    let table = context.table(TodoRow.table)
                    let inserts = todos.map { $0.fields.merging(["id": .text($0.id)]) { $1 } }
                    try await trial.measure {
                        for start in stride(from: 0, to: count, by: batch) {
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for fields in inserts[start..<start + batch] {
                                    group.addTask { try await table.insert(fields) }
                                }
                                try await group.waitForAll()
                            }
                        }
                    }
                    return try await context.checkAndClose()
                }
            } + Floors.localWrites(todos, batch: batch) + [
                Contender("peer") { trial in
                    let peer = try PeerDatabase(path: trial.path("peer"))
                    try await trial.measure {
                        for start in stride(from: 0, to: count, by: batch) {
                            try peer.write("insert", todos[start..<start + batch])
                        }
                    }
                    return try peer.checksum()
                }
            ],
            lines: StoreKind.allCases.map { kind in
                Line(
                    kind.rawValue, floor: kind.floorName, peer: "peer", goals: [.ofFloor(0.7), .ofPeer(1.5)])
            })
    }
}
