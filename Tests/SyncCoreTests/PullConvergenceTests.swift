// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import Testing

@_spi(StoreAuthor) @testable import SyncCore

/// Random pulls from a server that is written to between pages: in the end no row is missing.
@Suite struct PullConvergenceTests {
    /// A server that stores nanoseconds, shows fewer digits, and caps its pages at random lengths.
    private struct Server {
        var random: SeededGenerator
        let shownDigits: Int
        var now = Timestamp.unixEpoch.showing(fractionDigits: 9)
        var rows: [String: (updatedAt: Timestamp, version: Int)] = [:]
        var lastVersion = 0

        mutating func write() {
            for _ in 0..<Int.random(in: 0..<8, using: &random) {
                let steps: [Duration] = [
                    .zero, .zero, .nanoseconds(1), .nanoseconds(300), .milliseconds(1), .milliseconds(400),
                    .seconds(2),
                ]
                now = now.advanced(by: steps[Int.random(in: 0..<steps.count, using: &random)])
                lastVersion += 1
                rows["r\(Int.random(in: 0..<40, using: &random))"] = (now, lastVersion)
            }
        }

        mutating func page(_ query: TableQuery) -> [PulledRow] {
            let items = rows.map { id, row in
                Item(
                    id: id, system: SystemProperties(updatedAt: row.updatedAt, version: "\(row.version)"))
            }
            var query = query
            query.limit = min(query.limit ?? .max, Int.random(in: 1...12, using: &random))
            return query.apply(to: items).items.map { item in
                var item = item
                item.system.updatedAt = item.system.updatedAt?.showing(fractionDigits: shownDigits)
                return PulledRow(item: item, updatedAtText: item.system.updatedAt?.description)
            }
        }

        /// The response's `Date`, to the second.
        var date: Timestamp? { Timestamp(seconds: now.seconds, fractionDigits: 0) }
    }

    /// The rows and the token that the client has stored.
    private struct Client {
        var versions: [String: Int] = [:]
        var token: DeltaToken?

        mutating func store(_ rows: [PulledRow], _ newToken: DeltaToken?) {
            for row in rows { versions[row.item.id] = row.item.system.version.flatMap { Int($0) } }
            token = newToken.flatMap { DeltaToken(storedText: $0.storedText(for: "q"), for: "q") }
        }
    }

    @Test(arguments: [0, 3, 7, 9], 0..<12)
    func `all rows are pulled, whatever is written between pages and wherever pulls are interrupted`(
        _ shownDigits: Int, _ seed: UInt64
    ) throws {
        for round in 0..<20 as Range<UInt64> {
            var server = Server(
                random: SeededGenerator(seed: seed * 1000 + round), shownDigits: shownDigits)
            var client = Client()
            for pull in 0..<6 {
                let isLast = pull == 5
                if isLast { server.now = server.now.advanced(by: .seconds(5)) }
                var settings = PullSettings()
                settings.pageSize = Int.random(in: 1...9, using: &server.random)
                var cursor = PullCursor(
                    query: TableQuery("T"), order: .keyset, settings: settings, token: client.token)
                var pages = 0
                while !cursor.isDone {
                    if !isLast { server.write() }
                    if !isLast, Int.random(in: 0..<15, using: &server.random) == 0 { break }
                    pages += 1
                    try #require(pages < 1000)
                    let rows = server.page(cursor.nextPage)
                    try cursor.advance(over: rows, at: PageTime(server: server.date, readAt: server.now))
                    client.store(rows, cursor.token)
                }
            }
            #expect(client.versions == server.rows.mapValues(\.version), "round \(round)")
            var settings = PullSettings()
            settings.pageSize = 5
            var idle = PullCursor(
                query: TableQuery("T"), order: .keyset, settings: settings, token: client.token)
            let rows = server.page(idle.nextPage)
            #expect(rows.isEmpty)
            try idle.advance(over: rows, at: PageTime(server: server.date, readAt: server.now))
            #expect(idle.isDone)
        }
    }
}
