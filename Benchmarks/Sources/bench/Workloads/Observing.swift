// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

/// Commits while queries are observed.
enum Observing {
    /// The time until every observer has seen the last commit.
    static func commits(_ scale: Scale, _ place: Place) -> Benchmark {
        let (total, count, observers) = (scale.of(100_000) / 10, scale.of(200), 100)
        let stores = FilledStores(count: total, place: place)
        let peer = stores.peer(isIndexed: true)
        return Benchmark(
            name: "observe", title: "\(count) commits while \(observers) queries of 20 rows are observed",
            count: count, unit: "commit",
            contenders: StoreKind.allCases.flatMap { kind in
                let context = stores.context(kind, isIndexed: true)
                return [0, observers].map { observers in
                    Contender(observers == 0 ? "\(kind.rawValue) alone" : kind.rawValue) { trial in
                        try await run(try await context.value().table(TodoRow.table), count, observers, trial)
                    }
                }
            } + [
                Contender("peer") { trial in try await run(try await peer.value(), count, observers, trial) }
            ],
            lines: StoreKind.allCases.map { Line($0.rawValue, peer: "peer") }, maxRounds: 3)
    }

    /// A row that stands first in every observed query, and the value that says that it is the last.
    private static func row(_ number: Int, of count: Int, _ trial: Trial) -> TodoRow {
        var row = TodoRow(0, generation: trial.round * count + number)
        row.priority = 0
        row.note = number == count - 1 ? "last of round \(trial.round)" : row.note
        return row
    }

    private static func run(
        _ table: SyncTable, _ count: Int, _ observers: Int, _ trial: Trial
    ) async throws -> Int {
        let last = ItemValue.text(row(count - 1, of: count, trial).note)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
            for observer in 0..<observers {
                let query = TableQuery(TodoRow.table).where(.column("priority") < 20_000 + observer)
                    .order(by: "priority").limit(20)
                group.addTask {
                    var isFirst = true
                    for try await result in table.observe(query) {
                        if isFirst { isReady.yield() }
                        isFirst = false
                        if result.items.first?["note"] == last { return }
                    }
                }
            }
            var waiting = ready.makeAsyncIterator()
            for _ in 0..<observers { await waiting.next() }
            try await trial.measure {
                for number in 0..<count {
                    let row = row(number, of: count, trial)
                    try await table.update(id: row.id, row.fields)
                }
                try await group.waitForAll()
            }
            return count
        }
    }

    private static func run(
        _ peer: PeerDatabase, _ count: Int, _ observers: Int, _ trial: Trial
    ) async throws -> Int {
        let last = row(count - 1, of: count, trial).note
        return try await withThrowingTaskGroup(of: Void.self) { group in
            let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
            for observer in 0..<observers {
                let observation = ValueObservation.tracking { database in
                    try ItemRecord.filter(SyncColumn("priority") < 20_000 + observer).order(SyncColumn("priority"))
                        .limit(20).fetchAll(database)
                }
                group.addTask {
                    var isFirst = true
                    for try await result in observation.values(in: peer.pool) {
                        if isFirst { isReady.yield() }
                        isFirst = false
                        if result.first?.note == last { return }
                    }
                }
            }
            var waiting = ready.makeAsyncIterator()
            for _ in 0..<observers { await waiting.next() }
            try await trial.measure {
                for number in 0..<count { try await peer.write("update", row(number, of: count, trial)) }
                try await group.waitForAll()
            }
            return count
        }
    }
}
