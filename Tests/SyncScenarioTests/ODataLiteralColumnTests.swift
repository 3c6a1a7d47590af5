// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Columns whose names are literals or operators of OData: local queries work, and remote queries are refused.
@Suite struct ODataLiteralColumnTests {
    private static let names = ["null", "true", "NaN", "not", "and", "eq", "mod"]
    private static let definition = SyncTableDefinition(
        Todo.name, columns: [Todo.text] + names.map { SyncColumn($0, .integer) })

    @Test(arguments: StoreKind.allCases)
    func `columns named like OData literals can be stored, synced and queried locally`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device("A", tables: [Self.definition])
            let fields = Dictionary(uniqueKeysWithValues: Self.names.map { ($0, ItemValue.int(1)) })
            try await a.table.insert(fields.merging(["id": "x"]) { own, _ in own })
            try await a.table.insert(["id": "y"])
            try await a.sync()
            let b = try scenario.device("B", tables: [Self.definition])
            try await b.context.pull(Todo.query, queryID: "all")
            for name in Self.names {
                let query = Todo.query.where(.column(name) == 1).order(by: name)
                #expect(try await b.table.items(matching: query).items.map(\.id) == ["x"], "\(name)")
            }
            #expect(try await b.item("x")?.fields == fields)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a remote query on a column named like an OData literal is refused and not sent`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(tables: [Self.definition])
            for name in Self.names {
                let queries = [
                    Todo.query.where(.column(name) == 1), Todo.query.where(.isNull(.column(name))),
                    Todo.query.order(by: name),
                ]
                for query in queries {
                    let error = await expectError(.filterNotSupported) { try await a.context.pull(query) }
                    #expect(error?.message.contains("'\(name)'") == true)
                }
            }
            #expect(scenario.server.requests.isEmpty)
        }
    }
}
