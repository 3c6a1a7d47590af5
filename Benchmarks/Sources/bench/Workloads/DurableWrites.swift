// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Inserts that each wait until they are durable.
enum DurableWrites {
    /// Inserts one after another.
    static func single(_ scale: Scale) -> Benchmark {
        let todos = (0..<scale.of(2000)).map { TodoRow(ordered: $0) }
        return Benchmark(
            name: "local-write.single",
            title: "Insert \(todos.count) items, each in a separate transaction",
            count: todos.count, unit: "item with its operation",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let context = try kind.context(trial)
                    let table = context.table(TodoRow.table)
                    let inserts = todos.map(\.insertedFields)
                    try await trial.measure {
                        for fields in inserts { try await table.insert(fields) }
                    }
                    return try await context.checkAndClose()
                }
            } + Floors.localWrites(todos, batch: 1, kind: .insert, over: []) + [
                Contender("peer") { trial in
                    let peer = try PeerDatabase(path: trial.path("peer"))
                    try await trial.measure {
                        for todo in todos { try await peer.write("insert", todo) }
                    }
                    return try peer.checksum()
                }
            ],
            lines: StoreKind.allCases.map { ReportLine($0.rawValue, floor: $0.floorName, peer: "peer") })
    }

    /// Inserts from 64 concurrent tasks. The floors and the peer commit each insert separately.
    static func concurrent(_ scale: Scale) -> Benchmark {
        let (writers, each) = (64, scale.of(100))
        let todos = (0..<writers * each).map { TodoRow(ordered: $0) }
        return Benchmark(
            name: "local-write.concurrent",
            title: "Insert \(todos.count) items from \(writers) tasks, each waiting for its commit",
            count: todos.count, unit: "item with its operation",
            contenders: StoreKind.allCases.map { kind in
                Contender(kind.rawValue) { trial in
                    let context = try kind.context(trial)
                    let table = context.table(TodoRow.table)
                    let inserts = todos.map(\.insertedFields)
                    try await trial.measure {
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for writer in 0..<writers {
                                group.addTask {
                                    for fields in inserts[writer * each..<(writer + 1) * each] {
                                        try await table.insert(fields)
                                    }
                                }
                            }
                            try await group.waitForAll()
                        }
                    }
                    return try await context.checkAndClose()
                }
            } + Floors.localWrites(todos, batch: 1, kind: .insert, over: []) + [
                Contender("peer") { trial in
                    let peer = try PeerDatabase(path: trial.path("peer"))
                    try await trial.measure {
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for writer in 0..<writers {
                                group.addTask {
                                    for todo in todos[writer * each..<(writer + 1) * each] {
                                        try await peer.write("insert", todo)
                                    }
                                }
                            }
                            try await group.waitForAll()
                        }
                    }
                    return try peer.checksum()
                }
            ],
            lines: StoreKind.allCases.map { kind in
                ReportLine(
                    kind.rawValue, floor: kind.floorName, peer: "peer",
                    goals: kind == .memory ? [] : [.ofFloor(10)])
            }, maxRounds: 3)
    }
}

extension TodoRow {
    /// The fields of a new item with this row's id.
    var insertedFields: [String: ItemValue] {
        var inserted = fields
        inserted["id"] = .text(id)
        return inserted
    }
}
