// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import SyncCore

/// Reads of items.
enum Reads {
    /// Returns ids in an order that is unrelated to the order of storage.
    private static func ids(_ count: Int, of total: Int) -> [String] {
        (0..<count).map { TodoRow.randomID($0 &* 7919 % total) }
    }

    static func byID(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let (total, count) = (scale.of(100_000), scale.of(20_000))
        let (ids, stores) = (ids(count, of: total), FilledStores(count: total, directory: directory))
        let contexts = StoreKind.allCases.map { ($0, stores.context($0, isIndexed: false)) }
        return Benchmark(
            name: "read.by-id", title: "Get \(count) of \(total) items by their ids", count: count,
            unit: "item",
            contenders: contexts.map { kind, context in
                Contender(kind.rawValue) { trial in
                    let store = try await context.value().dataSource
                    return try await trial.measure {
                        try store.read { snapshot in
                            try ids.count { try snapshot.item(id: $0, in: TodoRow.table) != nil }
                        }
                    }
                }
            }
                + contexts.map { kind, context in
                    Contender("\(kind.rawValue) one by one") { trial in
                        let table = try await context.value().table(TodoRow.table)
                        return try await trial.measure {
                            var found = 0
                            for id in ids where try await table.item(id: id) != nil { found += 1 }
                            return found
                        }
                    }
                } + floorsByID(ids, stores) + [
                    peerByID(ids, stores.peer(isIndexed: false)),
                    peerOneByOne(ids, stores.peer(isIndexed: false)),
                ],
            lines: StoreKind.allCases.map { kind in
                ReportLine(kind.rawValue, floor: kind.floorName, peer: "peer", goals: [.ofFloor(0.7)])
            } + StoreKind.allCases.map { ReportLine("\($0.rawValue) one by one", peer: "peer one by one") })
    }

    private static func floorsByID(_ ids: [String], _ stores: FilledStores) -> [Contender] {
        let (tables, map, items) = (stores.tables(isIndexed: false), stores.map(), stores.plainItems())
        return [
            Contender(StoreKind.sqlite.floorName) { trial in
                let database = try RawDatabase(path: await tables.value())
                let statement = try database.prepare("SELECT * FROM item WHERE id = ?")
                let texts = RawTexts(ids)
                return try await trial.measure {
                    try database.execute("BEGIN")
                    defer { try? database.execute("COMMIT") }
                    return try texts.texts.count { id in
                        statement.bind(id, at: 1)
                        return try statement.first { $0.readAllColumns() } != nil
                    }
                }
            },
            Contender(StoreKind.lmdb.floorName) { trial in
                let map = try RawMap(path: await map.value())
                let texts = RawTexts(ids)
                return try await trial.measure {
                    try map.read { transaction in
                        try texts.texts.count { try transaction.get($0) > 0 }
                    }
                }
            },
            Contender(StoreKind.memory.floorName) { trial in
                let items = try await items.value()
                return try await trial.measure { ids.count { items[$0] != nil } }
            },
        ]
    }

    private static func peerByID(_ ids: [String], _ peer: Shared<PeerDatabase>) -> Contender {
        Contender("peer") { trial in
            let peer = try await peer.value()
            return try await trial.measure {
                try peer.pool.read { database in
                    try ids.count { try ItemRecord.fetchOne(database, key: $0) != nil }
                }
            }
        }
    }

    private static func peerOneByOne(_ ids: [String], _ peer: Shared<PeerDatabase>) -> Contender {
        Contender("peer one by one") { trial in
            let peer = try await peer.value()
            return try await trial.measure {
                var found = 0
                for id in ids {
                    if try await peer.pool.read({ try ItemRecord.fetchOne($0, key: id) }) != nil {
                        found += 1
                    }
                }
                return found
            }
        }
    }

    /// Gets items one by one while another task writes continuously.
    static func byIDWhileWriting(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let (total, count) = (scale.of(100_000), scale.of(20_000))
        let (ids, stores) = (ids(count, of: total), FilledStores(count: total, directory: directory))
        let contexts = StoreKind.allCases.map { ($0, stores.context($0, isIndexed: false)) }
        return Benchmark(
            name: "read.by-id.busy",
            title: "Get \(count) of \(total) items by their ids while a writer is busy",
            count: count, unit: "item",
            contenders: contexts.flatMap { kind, context in
                [false, true].map { isBusy in
                    Contender(isBusy ? "\(kind.rawValue) busy" : kind.rawValue) { trial in
                        let context = try await context.value()
                        let table = context.table(TodoRow.table)
                        return try await withThrowingTaskGroup(of: Void.self) { group in
                            if isBusy {
                                group.addTask { try await write(to: table, of: total, round: trial.round) }
                            }
                            let found = try await trial.measure {
                                var found = 0
                                for id in ids where try await table.item(id: id) != nil { found += 1 }
                                return found
                            }
                            group.cancelAll()
                            return found
                        }
                    }
                }
            },
            lines: StoreKind.allCases.map { kind in
                ReportLine("\(kind.rawValue) busy", peer: kind.rawValue)
            }, maxRounds: 3)
    }

    private static func write(to table: SyncTable, of total: Int, round: Int) async throws {
        var number = 0
        while !Task.isCancelled {
            let row = TodoRow(number % total, generation: 1 + round + number / total)
            try await table.update(id: row.id, row.fields)
            number += 1
        }
    }
}

extension OpaquePointer {
    /// Reads every column of the statement's current row, as a program that needs the row does.
    func readAllColumns() {
        for index in 0..<sqlite3_column_count(self) { _ = sqlite3_column_text(self, index) }
    }
}
