// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// Only an empty page ends a pull, and a repeated page is an error.
@Suite struct PullEndTests {
    /// Shortens the pages to varying lengths.
    private func returnShortPages(_ scenario: Scenario) {
        let lengths = Mutex([50, 20, 30, 7, 50, 1, 1, 49])
        scenario.server.onRequest { request in
            let length = lengths.withLock { lengths in
                lengths.append(lengths.removeFirst())
                return lengths[0]
            }
            return .editRows { Array($0.prefix(length)) }
        }
    }

    @Test(arguments: StoreKind.allCases, PullStrategy.allCases)
    func `pages of any length are followed by another request`(
        _ kind: StoreKind, _ strategy: PullStrategy
    ) async throws {
        try await Scenario.run(on: kind, rows: 200) { scenario, a in
            returnShortPages(scenario)
            var settings = PullSettings()
            settings.strategy = strategy
            try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a stored page is reported although the request for the next one fails`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, rows: 20) { scenario, a in
            scenario.server.onRequest { request in
                request.isPage && request.parameter("$filter")?.contains("updatedAt") == true
                    ? .refusal(400) : .none
            }
            var pages = a.context.pulling(Todo.query, queryID: "all", settings: .pages(of: 10))
                .makeAsyncIterator()
            let progress = try await pages.next()
            #expect(progress?.received == 10)
            await expectError(.pullAborted) { _ = try await pages.next() }
            #expect(try await a.texts().count == 10)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pages of any length are followed by another request, also without a query ID`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, rows: 200) { scenario, a in
            returnShortPages(scenario)
            for query in [Todo.query, Todo.query.order(by: "text")] {
                try await a.context.pull(query)
                try await scenario.expectAgreement(a)
                try await a.context.purge(Todo.query)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `no row is missed when the server lowers its page cap between two pulls`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, rows: 120) { scenario, a in
            try await a.context.pull(Todo.query, queryID: "all")
            for number in 0..<40 {
                scenario.server.clock.advance(by: .milliseconds(1))
                try await scenario.server.update("row-\(number)", ["text": "new"], in: Todo.name)
            }
            scenario.server.onRequest { _ in .editRows { Array($0.prefix(7)) } }
            let second = try await a.context.pull(Todo.query, queryID: "all")
            #expect(second.upserted == 40)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an idle pull is one request without a store write, and a pull with rows sends one more request`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, rows: 20) { scenario, _ in
            let store = CountingStore(
                try kind.open(in: scenario.directory, name: "C", tables: [Todo.definition]))
            let context = scenario.device(on: store).context
            let first = try await context.pull(Todo.query, queryID: "all")
            #expect(first.pages == 2)
            #expect(first.received == 20)
            let writes = store.writes
            let idle = try await context.pull(Todo.query, queryID: "all")
            #expect(idle.pages == 1)
            #expect(idle.received == 0)
            #expect(store.writes == writes)
        }
    }

    @Test(arguments: StoreKind.allCases, ["keyset", "skip", "id", "offset"])
    func `a server that returns the same page again ends the pull with an error`(
        _ kind: StoreKind, _ order: String
    ) async throws {
        try await Scenario.run(on: kind, rows: 3) { scenario, a in
            let row = #"{"id":"x","text":"one","updatedAt":"1970-01-01T00:00:01.000Z","version":"1"}"#
            let other = #"{"id":"y","text":"one","updatedAt":"1970-01-01T00:00:02.000Z","version":"1"}"#
            for pages in [["[\(row)]"], ["[\(row),\(other)]"], ["[\(row)]", "[\(other)]"]] {
                let count = Mutex(0)
                scenario.server.onRequest { _ in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    guard number < 100 else { return .answer(status: 200, body: Data("[]".utf8)) }
                    return .answer(status: 200, body: Data(pages[number % pages.count].utf8))
                }
                var settings = PullSettings()
                settings.strategy = order == "skip" ? .skip : .keyset
                let query = order == "offset" ? Todo.query.order(by: "text") : Todo.query
                let queryID = ["keyset", "skip"].contains(order) ? "all" : nil
                let error = await expectError(.pullAborted) {
                    try await a.context.pull(query, queryID: queryID, settings: settings)
                }
                #expect(error?.message.contains("again") == true)
                #expect(count.withLock { $0 } < 12)
                try await a.context.purge(Todo.query)
            }
        }
    }
}
