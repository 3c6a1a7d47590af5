// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

/// A delta token is bound to the server, the query and the synced columns.
@Suite struct DeltaTokenBindingTests {
    @Test(arguments: StoreKind.persistent)
    func `a column declared later gets the values of rows pulled before`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("x", ["text": "one", "extra": "value"], in: Todo.name)
            let a = try scenario.crashableDevice()
            try await a.context.pull(Todo.query, queryID: "all")
            let wider = SyncTableDefinition(
                Todo.name, columns: Todo.definition.columns + [SyncColumn("extra", .text)])
            let b = try scenario.restart(a, tables: [wider])
            // The value from the earlier pull is returned at once; the next pull updates it.
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
            let a = try scenario.crashableDevice()
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
                let context = SyncContext(
                    client: SyncClient(url: other.url, transport: .patient), dataSource: a.store)
                let result = try await context.pull(Todo.query, queryID: "all")
                #expect(result.upserted == 1)
            }
        }
    }
}
