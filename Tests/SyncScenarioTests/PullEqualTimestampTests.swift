// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Rows with equal timestamps at the end of a page or of a pull, and on servers that show fewer digits than they store.
@Suite struct PullEqualTimestampTests {
    @Test(arguments: StoreKind.allCases, PullStrategy.allCases)
    func `a row written after the pull with the token's timestamp is pulled next time`(
        _ kind: StoreKind, _ strategy: PullStrategy
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let a = try scenario.device()
            var settings = PullSettings()
            settings.strategy = strategy
            try await scenario.server.put("m", ["text": "first"], in: Todo.name)
            try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            try await scenario.server.put("a", ["text": "same timestamp"], in: Todo.name)
            let second = try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(second.upserted == 1)
            scenario.server.clock.advance(by: .milliseconds(500))
            try await scenario.server.put("b", ["text": "later"], in: Todo.name)
            try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows with the token's timestamp are read again until the server's clock is later`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let a = try scenario.device()
            try await scenario.putRows(1000)
            let first = try await a.context.pull(Todo.query, queryID: "all")
            #expect(first.received == 1000)
            let again = try await a.context.pull(Todo.query, queryID: "all")
            #expect(again.unchanged == 1000)
            scenario.server.clock.advance(by: .seconds(5))
            try await a.context.pull(Todo.query, queryID: "all")
            let last = try await a.context.pull(Todo.query, queryID: "all")
            #expect(last.received == 0)
            #expect(last.pages == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows with equal shown timestamps are transferred once when the server stores more digits`(
        _ kind: StoreKind
    ) async throws {
        try await Self.runWithRoundedTimestamps(on: kind) { scenario, a in
            try await a.context.pull(Todo.query, queryID: "all")
            try await scenario.expectAgreement(a)
            let second = try await a.context.pull(Todo.query, queryID: "all")
            #expect(second.received == 0)
            #expect(second.pages == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `rows that leave a timestamp while it is paged do not hide others`(_ kind: StoreKind) async throws {
        try await Self.runWithRoundedTimestamps(on: kind) { scenario, a in
            let pages = Mutex(0)
            scenario.server.onRequest { request in
                guard request.isPage else { return .none }
                let page = pages.withLock { pages in
                    pages += 1
                    return pages
                }
                // A first row moves to a later timestamp, so the offsets of all others decrease by one.
                guard page > 1, page < 60 else { return .none }
                scenario.server.clock.advance(by: .milliseconds(1))
                _ = try? await scenario.server.update(Self.id(page), ["text": "moved"], in: Todo.name)
                return .none
            }
            try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 7))
            scenario.server.onRequest(nil)
            scenario.server.clock.advance(by: .seconds(10))
            try await a.context.pull(Todo.query, queryID: "all")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row written before the next page with the last page's timestamp is not missed`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let a = try scenario.device()
            for id in ["m", "n", "o"] { try await scenario.server.put(id, ["text": "one"], in: Todo.name) }
            let pages = Mutex(0)
            scenario.server.onRequest { request in
                guard request.isPage else { return .none }
                let page = pages.withLock { pages in
                    pages += 1
                    return pages
                }
                guard page == 2 else { return .none }
                _ = try? await scenario.server.put("a", ["text": "before"], in: Todo.name)
                scenario.server.clock.advance(by: .milliseconds(1))
                _ = try? await scenario.server.put("z", ["text": "after"], in: Todo.name)
                return .none
            }
            try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 3))
            scenario.server.clock.advance(by: .seconds(10))
            try await a.context.pull(Todo.query, queryID: "all", settings: .pages(of: 3))
            try await scenario.expectAgreement(a)
        }
    }

    private static func id(_ number: Int) -> String { "row-\(number * 7919 % 1009)" }

    /// Runs the body with 200 rows within one millisecond, on a server that shows three fraction digits and stores seven.
    private static func runWithRoundedTimestamps(
        on kind: StoreKind, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(
            on: kind,
            configure: {
                $0.clock = .standing(at: .unixEpoch)
                $0.keptFractionDigits = 7
            },
            { scenario in
                for number in 0..<200 {
                    scenario.server.clock.advance(by: .nanoseconds(1000))
                    try await scenario.server.put(id(number), ["text": .text("\(number)")], in: Todo.name)
                }
                scenario.server.clock.advance(by: .seconds(10))
                try await body(scenario, try scenario.device())
            })
    }
}
