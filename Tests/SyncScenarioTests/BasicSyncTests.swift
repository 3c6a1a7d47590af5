// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

@Suite struct BasicSyncTests {
    @Test(arguments: StoreKind.allCases)
    func `two devices converge to the same rows`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try scenario.device("A"), try scenario.device("B"))
            let milk = try await a.table.insert(["text": "Buy milk", "complete": false])
            try await a.table.insert(["text": "Buy eggs", "complete": false])
            let result = try await a.context.push()
            #expect(result.completed == 2)
            try await b.sync()
            #expect(try await b.texts() == ["Buy eggs", "Buy milk"])

            try await b.table.update(id: milk.id, ["complete": true])
            try await b.sync()
            try await a.sync()
            #expect(try await a.table.item(id: milk.id)?["complete"] == true)
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a context does not wait for the push of another one in the process`(_ kind: StoreKind) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try scenario.device("A"), try scenario.device("B"))
            try await a.table.insert(["id": "a", "text": "one"])
            try await b.table.insert(["id": "b", "text": "two"])
            let result = try await scenario.push(a) { _ in
                let pushed = try await b.context.push()
                #expect(pushed.completed == 1)
            }
            #expect(try result.get().completed == 1)
            #expect(try scenario.serverTexts() == ["one", "two"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `two tables are pulled at the same time beside a local write`(_ kind: StoreKind) async throws {
        let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(tables: [Todo.definition, other])
            for table in [Todo.name, "Other"] {
                for number in 0..<5 { try await scenario.server.put("\(number)", ["text": "1"], in: table) }
            }
            let (first, second) = (RequestGate(), RequestGate())
            scenario.server.inject(.hold(first), when: { $0.path.contains(Todo.name) })
            scenario.server.inject(.hold(second), when: { $0.path.contains("Other") })
            async let todos = a.context.pull(Todo.query, queryID: "all")
            async let others = a.context.pull(TableQuery("Other"), queryID: "all")
            await first.waitForArrivals()
            await second.waitForArrivals()
            try await a.table.insert(["id": "mine", "text": "2"])
            second.open()
            first.open()
            let results = try await [todos, others]
            #expect(results.map(\.received) == [5, 5])
            #expect(try await a.context.table("Other").items().count == 5)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a context that begins without network reads, writes and syncs later`(_ kind: StoreKind) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            scenario.server.onRequest { _ in .dropRequest }
            let a = try scenario.device(settings: .singleAttempt)
            await expectError(.pullAborted) { try await a.context.pull(Todo.query, queryID: "all") }
            try await a.table.insert(["id": "x", "text": "one"])
            #expect(try await a.texts() == ["one"])
            await expectError(.pushAbortedNetwork) { try await a.context.push() }
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["two"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row deleted on one device disappears from the other`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try scenario.device("A"), try scenario.device("B"))
            let item = try await a.table.insert(["text": "Buy milk"])
            try await a.sync()
            try await b.sync()
            try await b.table.delete(id: item.id)
            try await b.sync()
            try await a.sync()
            #expect(try await a.texts() == [])
            #expect(try scenario.server.row(item.id, in: Todo.name)?.deleted == true)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict is an error that carries the server's row`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device("A")
            let item = try await a.table.insert(["text": "Buy milk"])
            try await a.sync()
            try await scenario.server.update(item.id, ["text": "Buy oat milk"], in: Todo.name)
            try await a.table.update(id: item.id, ["text": "Buy soy milk"])
            let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
            let failure = try #require(error?.pushResult?.errors.first)
            #expect(failure.code == .preconditionFailed)
            #expect(
                failure.message
                    == "The row with this id was changed on the server since it was read.")
            #expect(failure.serverItem?["text"] == "Buy oat milk")
            #expect(failure.item?["text"] == "Buy soy milk")
            #expect(try await a.context.operationErrors() == [failure])
            #expect(try await a.operations().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict can be resolved with the client's item, with the server's row, or by discarding`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device("A")
            for choice in ["client", "server", "cancel"] {
                let item = try await a.table.insert(["text": "Buy milk"])
                try await a.sync()
                try await scenario.server.update(item.id, ["text": "server's"], in: Todo.name)
                try await a.table.update(id: item.id, ["text": "client's"])
                let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
                let failure = try #require(error?.pushResult?.errors.first)
                switch choice {
                case "client":
                    let mine = try #require(try await a.table.item(id: item.id))
                    try await a.context.keepAndUpdateItem(for: failure, with: mine)
                    try await a.sync()
                    #expect(try scenario.server.row(item.id, in: Todo.name)?.fields["text"] == "client's")
                    #expect(try await a.table.item(id: item.id)?["text"] == "client's")
                case "server":
                    let theirs = try #require(failure.serverItem)
                    try await a.context.cancelAndUpdateItem(for: failure, with: theirs)
                    try await a.sync()
                    #expect(try await a.table.item(id: item.id)?["text"] == "server's")
                default:
                    #expect(try await a.table.item(id: item.id)?["text"] == "client's")
                    #expect(try await a.context.operationErrors().count == 1)
                    try await a.context.cancelAndDiscardItem(for: failure)
                    #expect(try await a.table.item(id: item.id)?["text"] == "server's")
                }
                #expect(try await a.operations().isEmpty)
                #expect(try await a.context.operationErrors().isEmpty)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `ten thousand rows are pulled in pages, and a second pull receives none`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let rows = (0..<10_000).map { (id: "row-\($0)", fields: ["text": ItemValue.text("text \($0)")]) }
            for start in stride(from: 0, to: rows.count, by: 1000) {
                try await scenario.server.put(Array(rows[start..<start + 1000]), in: Todo.name)
            }
            scenario.server.clock.advance(by: .seconds(10))
            let a = try scenario.device("A")
            var steps = 0
            var last = PullResult()
            for try await progress in a.context.pulling(Todo.query, queryID: "all") {
                #expect(progress.received >= last.received)
                (steps, last) = (steps + 1, progress)
            }
            #expect(last.received == 10_000)
            #expect(last.upserted == 10_000)
            #expect(steps == last.pages)
            #expect(try await a.table.items().count == 10_000)

            let again = try await a.context.pull(Todo.query, queryID: "all")
            #expect(again.received == 0)
            #expect(again.pages == 1)
            #expect(again.deltaToken == last.deltaToken)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the error names a table that the server does not have, and its operation stays queued`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(
                "A",
                tables: [
                    Todo.definition, SyncTableDefinition("Missing", columns: [SyncColumn("text", .text)]),
                ])
            try await a.context.table("Missing").insert(["text": "x"])
            let error = await expectError(.pushCompletedWithErrors) { try await a.context.push() }
            let failure = try #require(error?.pushResult?.errors.first)
            #expect(failure.code == .tableNotOnServer)
            #expect(
                failure.message.contains("'tables/Missing' below the client's URL '\(a.context.client.url)'"))
            #expect(error?.message.contains("1 failed") == true)
            #expect(try await a.operations().count == 1)
            let aborted = await expectError(.pullAborted) {
                try await a.context.pull(TableQuery("Missing"), settings: .withoutPush)
            }
            let place = "'tables/Missing' below the client's URL '\(a.context.client.url)'"
            #expect(aborted?.message.contains(place) == true)
        }
    }
}
