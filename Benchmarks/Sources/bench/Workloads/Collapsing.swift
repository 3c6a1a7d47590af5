// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Many changes of few items, which become few operations.
enum Collapsing {
    static func updates(_ scale: Scale) -> Benchmark {
        let (itemCount, rounds, batch) = (1000, scale.of(100_000) / 1000, 1000)
        let count = itemCount * rounds
        let todos = (0..<rounds).flatMap { round in
            (0..<itemCount).map { TodoRow($0, generation: round + 1) }
        }
        let originals = (0..<itemCount).map { TodoRow($0) }
        return Benchmark(
            name: "collapse.updates",
            title: "Collapse \(count) updates of \(itemCount) items, \(batch) to a transaction",
            count: count, unit: "update",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let context = try kind.context(trial)
                    try context.dataSource.write { try $0.upsert(originals.map(\.item), in: TodoRow.table) }
                    let table = context.table(TodoRow.table)
                    let updates = todos.map { (id: $0.id, fields: $0.fields) }
                    try await trial.measure {
                        for start in stride(from: 0, to: count, by: batch) {
                            try await withThrowingTaskGroup(of: Void.self) { group in
                                for update in updates[start..<start + batch] {
                                    group.addTask { try await table.update(id: update.id, update.fields) }
                                }
                                try await group.waitForAll()
                            }
                        }
                    }
                    return try await context.checkAndClose()
                }
            } + Floors.localWrites(todos, batch: batch, kind: .update) + [
                Contender("peer") { trial in
                    let peer = try PeerDatabase(path: trial.path("peer"))
                    try peer.fill(with: originals)
                    try await trial.measure {
                        for start in stride(from: 0, to: count, by: batch) {
                            try peer.write("update", todos[start..<start + batch])
                        }
                        guard try peer.compact().count == itemCount else {
                            throw WrongResult("The outbox was not compacted.")
                        }
                    }
                    return try peer.checksum()
                }
            ],
            lines: StoreKind.allCases.map { kind in
                Line(kind.rawValue, floor: kind.floorName, peer: "peer", goals: [.ofFloor(0.7)])
            }, maxRounds: 3)
    }
}
