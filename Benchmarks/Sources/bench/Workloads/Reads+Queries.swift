// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import SyncCore

extension Reads {
    /// Reads twenty rows of a range, about a hundredth of the table, ordered by the column of the range.
    static func query(_ scale: Scale, _ directory: SharedDirectory, isIndexed: Bool) -> Benchmark {
        let total = scale.of(100_000)
        let stores = FilledStores(count: total, directory: directory)
        let starts = (0..<scale.of(isIndexed ? 100 : 20)).map { 10_000 + $0 * 7919 % 89_000 }
        let (tables, peer) = (stores.tables(isIndexed: isIndexed), stores.peer(isIndexed: isIndexed))
        return Benchmark(
            name: isIndexed ? "read.query.index" : "read.query.scan",
            title:
                "Query the first 20 of a range of \(total) items, \(isIndexed ? "with" : "without") an index",
            count: starts.count, unit: "query",
            contenders: StoreKind.allCases.map { kind in
                let context = stores.context(kind, isIndexed: isIndexed)
                return Contender(kind.rawValue) { trial in
                    let table = try await context.value().table(TodoRow.table)
                    return try await trial.measure {
                        var sum = 0
                        for start in starts {
                            let range: Filter =
                                .column("priority") >= start && .column("priority") < start + 900
                            let query = TableQuery(TodoRow.table).where(range).order(by: "priority").limit(20)
                            sum += try await table.items(matching: query).items.prioritySum
                        }
                        return sum
                    }
                }
            } + [
                Contender(StoreKind.sqlite.floorName) { trial in
                    let database = try RawDatabase(path: await tables.value())
                    let statement = try database.prepare(
                        """
                        SELECT * FROM item WHERE priority >= ? AND priority < ? \
                        ORDER BY priority, id LIMIT 20
                        """)
                    return try await trial.measure {
                        var sum = 0
                        for start in starts {
                            statement.bind(start, at: 1)
                            statement.bind(start + 900, at: 2)
                            try statement.forEach { row in
                                row.readAllColumns()
                                sum += Int(sqlite3_column_int64(row, 7))
                            }
                        }
                        return sum
                    }
                },
                Contender("peer") { trial in
                    let peer = try await peer.value()
                    return try await trial.measure {
                        var sum = 0
                        for start in starts {
                            let rows = try await peer.pool.read { database in
                                let priority = Column("priority")
                                return try ItemRecord.filter(priority >= start && priority < start + 900)
                                    .order(priority, Column("id")).limit(20).fetchAll(database)
                            }
                            sum += rows.reduce(0) { $0 + $1.priority }
                        }
                        return sum
                    }
                },
            ],
            lines: StoreKind.allCases.map { kind in
                kind == .sqlite
                    ? ReportLine(
                        kind.rawValue, floor: kind.floorName, peer: "peer",
                        goals: isIndexed ? [.ofFloor(0.7)] : [])
                    : ReportLine(kind.rawValue, peer: "peer")
            }, maxRounds: 3)
    }

    /// Reads every item of the table.
    static func all(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let total = scale.of(100_000)
        let stores = FilledStores(count: total, directory: directory)
        let (tables, map) = (stores.tables(isIndexed: false), stores.map())
        let (items, peer) = (stores.plainItems(), stores.peer(isIndexed: false))
        return Benchmark(
            name: "read.all", title: "Read all \(total) items", count: total, unit: "item",
            contenders: StoreKind.allCases.map { kind in
                let context = stores.context(kind, isIndexed: false)
                return Contender(kind.rawValue) { trial in
                    let table = try await context.value().table(TodoRow.table)
                    return try await trial.measure { try await table.items().count }
                }
            } + [
                Contender(StoreKind.sqlite.floorName) { trial in
                    let database = try RawDatabase(path: await tables.value())
                    let statement = try database.prepare("SELECT * FROM item ORDER BY id")
                    return try await trial.measure {
                        var count = 0
                        try statement.forEach { row in
                            row.readAllColumns()
                            count += 1
                        }
                        return count
                    }
                },
                Contender(StoreKind.lmdb.floorName) { trial in
                    let map = try RawMap(path: await map.value())
                    return try await trial.measure { try map.read { try $0.scan() > 0 ? total : 0 } }
                },
                Contender(StoreKind.memory.floorName) { trial in
                    let items = try await items.value()
                    return try await trial.measure { items.values.sorted { $0.id < $1.id }.count }
                },
                Contender("peer") { trial in
                    let peer = try await peer.value()
                    return try await trial.measure {
                        try await peer.pool.read { try ItemRecord.order(Column("id")).fetchAll($0).count }
                    }
                },
            ],
            lines: StoreKind.allCases.map { ReportLine($0.rawValue, floor: $0.floorName, peer: "peer") },
            maxRounds: 3)
    }
}

extension [Item] {
    fileprivate var prioritySum: Int { reduce(0) { $0 + Int($1["priority"]?.intValue ?? 0) } }
}
