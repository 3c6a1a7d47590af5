// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Many changes of few items, which collapse into few operations.
enum Collapsing {
    static func updates(_ scale: Scale) -> Benchmark {
        let (itemCount, rounds, batch) = (1000, scale.of(100_000) / 1000, 1000)
        let originals = (0..<itemCount).map { TodoRow($0) }
        let todos = (0..<rounds).flatMap { round in
            (0..<itemCount).map { TodoRow($0, generation: round + 1) }
        }
        return Benchmark(
            name: "collapse.updates",
            title: "Collapse \(todos.count) updates of \(itemCount) items, \(batch) per transaction",
            count: todos.count, unit: "update",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let context = try kind.context(trial)
                    try context.dataSource.write { try $0.upsert(originals.map(\.item), in: TodoRow.table) }
                    let updates = todos.map { (id: $0.id, fields: $0.fields) }
                    try await trial.measure {
                        for start in stride(from: 0, to: updates.count, by: batch) {
                            try await context.context.batch { local in
                                for update in updates[start..<start + batch] {
                                    try local.update(id: update.id, update.fields, in: TodoRow.table)
                                }
                            }
                        }
                    }
                    return try await context.checkAndClose()
                }
            } + Floors.localWrites(todos, batch: batch, kind: .update, over: originals) + [
                PeerDatabase.localWrites(
                    todos, batch: batch, kind: .update, over: originals, compactingTo: itemCount),
                Changegroups.collapse(todos, batch: batch, over: originals),
            ],
            lines: StoreKind.allCases.map { kind in
                ReportLine(kind.rawValue, floor: kind.floorName, peer: "peer", goals: [.ofFloor(0.7)])
            } + [ReportLine("SQLite", peer: "changegroup")], maxRounds: 3)
    }

    /// Inserts and updates each item, and deletes every second one, whose operation is then removed.
    static func mixed(_ scale: Scale) -> Benchmark {
        let (itemCount, batch) = (scale.of(20_000), 1000)
        let todos = (0..<itemCount).map { TodoRow(ordered: $0) }
        let changed = (0..<itemCount).map { TodoRow(ordered: $0, generation: 1) }
        return Benchmark(
            name: "collapse.mixed",
            title: "Insert and update \(itemCount) items and delete half of them, \(batch) per transaction",
            count: itemCount * 5 / 2, unit: "change",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let context = try kind.context(trial)
                    let (inserts, updates) = (todos.map(\.fields), changed.map(\.fields))
                    try await trial.measure {
                        for start in stride(from: 0, to: itemCount, by: batch) {
                            let range = start..<start + batch
                            try await context.context.batch { local in
                                for index in range {
                                    try local.write(.insert, id: todos[index].id, inserts[index])
                                }
                            }
                            try await context.context.batch { local in
                                for index in range {
                                    try local.write(.update, id: todos[index].id, updates[index])
                                }
                            }
                            try await context.context.batch { local in
                                for index in range where index.isMultiple(of: 2) {
                                    try local.write(.delete, id: todos[index].id, [:])
                                }
                            }
                        }
                    }
                    return try await context.checkAndClose()
                }
            } + [
                PeerDatabase.mixedWrites(todos, changed, batch: batch)
            ],
            lines: StoreKind.allCases.map { ReportLine($0.rawValue, peer: "peer") })
    }
}
