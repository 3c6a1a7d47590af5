// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Commits while queries are observed, compared with the same commits without observers.
enum ObservedWrites {
    private static let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])

    /// Commits that do not change the observed results.
    static func unaffected(_ scale: Scale) -> Benchmark {
        let (count, observers) = (scale.of(2000), 100)
        let queries: [(name: String, queries: [TableQuery])] = [
            ("alone", []),
            ("other table", (0..<observers).map { TableQuery(other.name).offset($0).limit(20) }),
            (
                "same table",
                (0..<observers).map { number in
                    TableQuery(TodoRow.table).where(.column("priority") < number).order(by: "priority").limit(
                        20)
                }
            ),
        ]
        return Benchmark(
            name: "observe.unaffected",
            title: "\(count) commits that change none of \(observers) observed queries of 20 rows",
            count: count, unit: "commit",
            contenders: StoreKind.allCases.flatMap { kind in
                queries.map { name, queries in
                    Contender("\(kind.rawValue) \(name)") { trial in
                        let context = try context(kind, trial)
                        let rows = (0..<20).map { TodoRow($0) }
                        for row in rows {
                            try await context.table(TodoRow.table).insert(
                                row.fields.merging(["id": .text(row.id)]) { $1 })
                        }
                        try await context.observing(queries) {
                            try await trial.measure {
                                for number in 0..<count {
                                    let row = TodoRow(number % 20, generation: number)
                                    try await context.table(TodoRow.table).update(id: row.id, row.fields)
                                }
                            }
                        }
                        return try await context.checkAndClose()
                    }
                }
            },
            lines: StoreKind.allCases.flatMap { kind in
                [
                    ReportLine(
                        "\(kind.rawValue) other table",
                        goals: [.atMost(1.05, times: "\(kind.rawValue) alone")]),
                    ReportLine(
                        "\(kind.rawValue) same table", goals: [.atMost(2, times: "\(kind.rawValue) alone")]),
                ]
            }, maxRounds: 3)
    }

    /// A first pull into the table of the observed queries.
    static func firstPull(_ scale: Scale) -> Benchmark {
        let (count, observers) = (scale.of(100_000), 50)
        let pages = CannedPages.pages(of: (0..<count).map { TodoRow($0) }, size: 1000)
        let queries = (0..<observers).map { number in
            TableQuery(TodoRow.table).where(.column("priority") >= 10_000 + 1_000 * number)
                .order(by: "priority").limit(20)
        }
        return Benchmark(
            name: "observe.pull",
            title:
                "Pull \(count) new rows from memory while \(observers) indexed queries of 20 rows are observed",
            count: count, unit: "row",
            contenders: StoreKind.allCases.flatMap { kind in
                [("\(kind.rawValue) alone", []), (kind.rawValue, queries)].map { name, queries in
                    Contender(name) { trial in
                        let context = try context(kind, trial, transport: CannedPages(pages))
                        try await context.observing(queries) {
                            _ = try await trial.measure {
                                try await context.pull(
                                    TableQuery(TodoRow.table), queryID: "all", settings: .pages(of: 1000))
                            }
                        }
                        return try await context.checkAndClose()
                    }
                }
            },
            lines: StoreKind.allCases.map { kind in
                ReportLine(kind.rawValue, goals: [.atMost(1.1, times: "\(kind.rawValue) alone")])
            }, maxRounds: 3)
    }

    private static func context(
        _ kind: StoreKind, _ trial: Trial, transport: any HTTPTransport = NoTransport()
    ) throws -> BenchContext {
        let store = try kind.open(at: trial.path("store"), tables: [TodoRow.indexedDefinition, other])
        return BenchContext(context: SyncContext(store, transport: transport), dataSource: store)
    }
}

extension BenchContext {
    /// Runs the body while the queries are observed, after each observer has received its first result.
    fileprivate func observing(_ queries: [TableQuery], _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            let (ready, isReady) = AsyncStream.makeStream(of: Void.self)
            for query in queries {
                let table = table(query.table)
                group.addTask {
                    for try await _ in table.observe(query) { isReady.yield() }
                }
            }
            var readyObservers = ready.makeAsyncIterator()
            for _ in queries { await readyObservers.next() }
            try await body()
            group.cancelAll()
        }
    }
}
