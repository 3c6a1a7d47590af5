// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Responses of servers that were made with other frameworks and databases.
@Suite struct ForeignServerTests {
    private static func row(_ id: String, _ field: String, second: Int) -> String {
        #"{"id":"\#(id)",\#(field),"version":"1","updatedAt":"2020-01-01T00:00:0\#(second).000Z"}"#
    }

    @Test(arguments: StoreKind.allCases, ["NaN", "Infinity"])
    func `a row with a number that JSON does not have is listed, and the others are stored`(
        _ kind: StoreKind, _ number: String
    ) async throws {
        let rows = [
            Self.row("a", #""text":"one""#, second: 1), Self.row("m", #""price":\#(number)"#, second: 2),
            Self.row("z", #""text":"two""#, second: 3),
        ]
        let page = Data("[\(rows.joined(separator: ","))]".utf8)
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            scenario.server.inject(.answer(status: 200, body: page), when: \.isPage)
            let result = try await a.context.pull(Todo.query, queryID: "all")
            #expect(try await a.table.items().map(\.id) == ["a", "z"])
            #expect(result.unreadable.map(\.id) == ["m"])
            #expect(result.unreadable.map(\.column) == ["price"])
            #expect(result.deltaToken == "2020-01-01T00:00:03.000Z")
        }
    }

    @Test func `the next pull lists the unreadable rows of a pull whose later page has failed`() async throws
    {
        let rows = [Self.row("a", #""text":"one""#, second: 1), Self.row("m", #""price":NaN"#, second: 2)]
        let page = Data("[\(rows.joined(separator: ","))]".utf8)
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            scenario.server.inject(.answer(status: 200, body: page), .refusal(503), when: \.isPage)
            await expectError(.pullAborted) { try await a.context.pull(Todo.query, queryID: "all") }
            #expect(try await a.table.items().map(\.id) == ["a"])
            for ids in [["m"], []] {
                let result = try await a.context.pull(Todo.query, queryID: "all")
                #expect(result.unreadable.map(\.id) == ids)
            }
        }
    }

    @Test(arguments: [400, 413, 422])
    func `a refusal whose text has the type of HTML fails its own operation only`(_ status: Int)
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "1", "text": "poison"])
            try await a.table.insert(["id": "2", "text": "healthy"])
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison")
                    ? .answer(
                        status: status, headers: ["Content-Type": "text/html; charset=utf-8"],
                        body: Data("Title too long".utf8)) : .none
            }
            let error = try await a.expectPushError()
            #expect(error.itemID == "1")
            #expect(error.message.contains("Title too long"))
            #expect(try scenario.serverTexts() == ["healthy"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `columns that the server spells in another case are pushed and pulled`(_ kind: StoreKind)
        async throws
    {
        let table = SyncTableDefinition(
            Todo.name, columns: [SyncColumn("text", .text), SyncColumn("isDone", .bool)])
        try await Scenario.run(
            on: kind, configure: { $0.tables = [.init(Todo.name, columns: ["TEXT", "isdone"])] }
        ) { scenario in
            let a = try scenario.device("A", tables: [table])
            let b = try scenario.device("B", tables: [table])
            try await a.table.insert(["id": "x", "text": "milk", "isDone": true])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields == ["TEXT": "milk", "isdone": true])
            #expect(try await a.item("x")?.fields == ["text": "milk", "isDone": true])
            try await b.sync()
            #expect(try await b.item("x")?.fields == ["text": "milk", "isDone": true])
            #expect(try await b.item("x")?.system.undeclared == [:])
            try await b.table.update(id: "x", ["isDone": false])
            try await b.sync()
            #expect(try scenario.row("x")?.fields == ["TEXT": "milk", "isdone": false])
            try await a.sync()
            #expect(try await a.item("x")?.fields == ["text": "milk", "isDone": false])
        }
    }
}
