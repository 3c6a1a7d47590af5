// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Only an empty page is the end of a pull, and a server that repeats itself is an error.
@Suite struct PullEndTests {
    /// A server with that many rows, each a millisecond after the one before and long ago.
    static func filled(
        on kind: StoreKind, rows count: Int, configure: (inout TableServer.Configuration) -> Void = { _ in },
        _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(
            on: kind,
            configure: {
                $0.clock = .standing(at: .unixEpoch)
                configure(&$0)
            },
            { scenario in
                for number in 0..<count {
                    scenario.server.clock.advance(by: .milliseconds(1))
                    try await scenario.server.put(
                        "row-\(number)", ["text": .text("\(number)")], in: Todo.name)
                }
                scenario.server.clock.advance(by: .seconds(10))
                try await body(scenario, try scenario.device())
            })
    }

    @Test(arguments: StoreKind.allCases, PullStrategy.allCases)
    func `pages of any length are followed by another request`(
        _ kind: StoreKind, _ strategy: PullStrategy
    ) async throws {
        try await Self.filled(on: kind, rows: 200) { scenario, a in
            let lengths = Mutex([50, 20, 30, 7, 50, 1, 1, 49])
            scenario.server.onRequest { request in
                let length = lengths.withLock { lengths in
                    lengths.append(lengths.removeFirst())
                    return lengths[0]
                }
                return .editRows { Array($0.prefix(length)) }
            }
            var settings = PullSettings()
            settings.strategy = strategy
            try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pages of any length are followed by another request, also without a query ID`(
        _ kind: StoreKind
    ) async throws {
        try await Self.filled(on: kind, rows: 200) { scenario, a in
            let lengths = Mutex([50, 20, 30, 7, 50, 1, 1, 49])
            scenario.server.onRequest { request in
                let length = lengths.withLock { lengths in
                    lengths.append(lengths.removeFirst())
                    return lengths[0]
                }
                return .editRows { Array($0.prefix(length)) }
            }
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
        try await Self.filled(on: kind, rows: 120) { scenario, a in
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
        try await Self.filled(on: kind, rows: 20) { scenario, _ in
            let store = CountingStore(
                try kind.open(in: scenario.directory, name: "C", tables: [Todo.definition]))
            let context = SyncContext(client: SyncClient(url: scenario.server.url), dataSource: store)
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
        try await Self.filled(on: kind, rows: 3) { scenario, a in
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

/// A store that counts its transactions.
final class CountingStore: SyncContextDataSource {
    private let base: any SyncContextDataSource
    private let count = Mutex(0)

    init(_ base: any SyncContextDataSource) { self.base = base }

    var writes: Int { count.withLock { $0 } }
    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try base.read(body) }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        count.withLock { $0 += 1 }
        return try base.write(body)
    }

    func close() throws { try base.close() }
}
