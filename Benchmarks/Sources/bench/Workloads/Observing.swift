// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

/// Commits during the observation of queries.
enum Observing {
    /// Measures the time until every observer has received the last commit.
    static func commits(_ scale: Scale, _ directory: SharedDirectory) -> Benchmark {
        let (total, count, observers) = (scale.of(100_000) / 10, scale.of(200), 100)
        let stores = FilledStores(count: total, directory: directory)
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
            lines: StoreKind.allCases.map { ReportLine($0.rawValue, peer: "peer") }, maxRounds: 3)
    }

    /// Returns a row that is the first of every observed query. The row of the last commit has a special note.
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
            var readyObservers = ready.makeAsyncIterator()
            for _ in 0..<observers { await readyObservers.next() }
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
                    try ItemRecord.filter(Column("priority") < 20_000 + observer).order(Column("priority"))
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
            var readyObservers = ready.makeAsyncIterator()
            for _ in 0..<observers { await readyObservers.next() }
            try await trial.measure {
                for number in 0..<count { try await peer.write("update", row(number, of: count, trial)) }
                try await group.waitForAll()
            }
            return count
        }
    }
}
