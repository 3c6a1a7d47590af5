// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// What a delta token is bound to, and what a restarted row looks like.
@Suite struct PullBindingTests {
    @Test(arguments: StoreKind.persistent)
    func `a column declared later gets the values of rows pulled before`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "one", "extra": "value"], in: Todo.name)
            let a = try scenario.mortalDevice()
            try await a.context.pull(Todo.query, queryID: "all")
            let wider = SyncTableDefinition(
                Todo.name, columns: Todo.definition.columns + [SyncColumn("extra", .text)])
            let b = try scenario.restart(a, tables: [wider])
            // What the server had there is shown at once; it may have changed since.
            #expect(try await b.item("x")?["extra"] == "value")
            let result = try await b.context.pull(Todo.query, queryID: "all")
            #expect(result.received == 1)
            #expect(try await b.item("x")?["extra"] == "value")
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `declaring a local-only column does not restart the pull`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            scenario.server.clock.advance(by: .seconds(10))
            let a = try scenario.mortalDevice()
            try await a.context.pull(Todo.query, queryID: "all")
            let wider = SyncTableDefinition(
                Todo.name, columns: Todo.definition.columns + [SyncColumn("seen", .bool, isLocalOnly: true)])
            let b = try scenario.restart(a, tables: [wider])
            #expect(try await b.context.pull(Todo.query, queryID: "all").received == 0)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `another server restarts the pull, also when its rows are older`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            let a = try scenario.device()
            try await a.context.pull(Todo.query, queryID: "all")
            let configuration = TableServer.Configuration(
                tables: [.init(Todo.name)], clock: .standing(at: .unixEpoch))
            try await withTableServer(configuration) { other in
                try await other.put("y", ["text": "two"], in: Todo.name)
                let context = SyncContext(client: SyncClient(url: other.url), dataSource: a.store)
                let result = try await context.pull(Todo.query, queryID: "all")
                #expect(result.upserted == 1)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a row hard-deleted and inserted again differs from the old row with the same version`(
            _ kind: StoreKind
        ) async throws
    {
        try await PullEndTests.filled(on: kind, rows: 0) { scenario, a in
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "new"], in: Todo.name)
            try await a.pullAnyway()
            #expect(try await a.operations().map { $0.serverItem?["text"] } == ["new"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.failedPush()
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.texts() == ["new"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `tombstones do not count towards a limit`(_ kind: StoreKind) async throws {
        try await PullEndTests.filled(on: kind, rows: 60) { scenario, a in
            for number in stride(from: 0, to: 60, by: 2) {
                try await scenario.server.remove("row-\(number)", in: Todo.name)
            }
            for query in [Todo.query.limit(25), Todo.query.order(by: "text").limit(25)] {
                try await a.context.pull(query, settings: .pages(of: 10))
                #expect(try await a.table.items().count == 25)
                try await a.context.purge(Todo.query)
            }
        }
    }
}
