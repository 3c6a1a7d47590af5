// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// What the program shows of a store in each state.
@Suite struct StateTests {
    @Test(arguments: StoreFixture.Kind.allCases)
    func `an empty store has no operations and its push sends nothing`(_ kind: StoreFixture.Kind) async throws
    {
        let store = StoreFixture(kind)
        try store.make()
        let title = kind == .sqlite ? "SQLite" : "LMDB"
        #expect(
            try await Inspection.text(of: store.path()) == """
                \(try store.path()): \(title) store, format 3

                Tables
                  Board: 0 rows, 0 pending operations
                  Task: 0 rows, 0 pending operations, child of Board

                Pending operations
                  none

                Delta tokens
                  none

                Next push, if the server accepts every change (dialect v2)
                  sends nothing

                """)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `offline changes are listed with full ids and names of fields`(_ kind: StoreFixture.Kind)
        async throws
    {
        let store = StoreFixture(kind)
        try await store.withServer { _, context, _ in
            let board = try await context.table("Board").insert(["title": "home", "id": "board-1"])
            try await context.table("Task").insert([
                "id": "task-1", "text": "secret", "board": .text(board.id), "draft": "hidden",
            ])
            let report = try await Inspection.report(of: store.path())
            #expect(report.format == kind.rawValue)
            #expect(report.tables.map(\.rows) == [1, 1])
            #expect(report.tables.map(\.pendingOperations) == [1, 1])
            #expect(report.operations.map(\.itemID) == ["board-1", "task-1"])
            #expect(report.operations.map(\.changedFields) == [["title"], ["board", "text"]])
            #expect(report.operations.allSatisfy { $0.kind == "insert" && $0.state == "pending" })
            #expect(report.operations.allSatisfy { $0.changedAt != nil && $0.values == nil })
            #expect(report.nextPush.requests.map(\.path) == ["/tables/Board", "/tables/Task"])
            #expect(report.nextPush.requests.map(\.fields) == [["title"], ["board", "text"]])
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `control characters in the names of columns are not printed`(_ kind: StoreFixture.Kind) async throws
    {
        let store = StoreFixture(kind)
        try store.make { transaction in
            let name = "\u{1B}[2J\u{202E}\u{2028}"
            let row = Item(
                id: "task-1", fields: [name: 1], system: SystemProperties(undeclared: [name: "x"]))
            try transaction.put(
                TableOperation(
                    id: 1, table: "Task", itemID: "task-1", kind: .update, state: .attempted, base: row,
                    version: "1", serverItem: row,
                    sent: .init(kind: .update, fields: [name: 1], version: "1")))
        }
        let output = try await Inspection.run(try store.path(), "--values").output
        #expect(output.contains("task-1"))
        for character in ["\u{1B}", "\u{202E}", "\u{2028}"] { #expect(!output.contains(character)) }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `values of fields are printed on demand only`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try store.make { transaction in
            let base = Item(id: "task-1", fields: ["text": "from the server"])
            try transaction.upsert([Item(id: "task-1", fields: ["text": "secret"])], in: "Task")
            try transaction.put(
                TableOperation(
                    id: 1, table: "Task", itemID: "task-1", kind: .update, state: .attempted, base: base,
                    version: "1",
                    serverItem: base, sent: .init(kind: .update, fields: ["text": "sent"], version: "1")))
        }
        for options in [["--json"], []] {
            let path = try store.path()
            let plain = try await Inspection.run(path, options.first ?? "--dialect=v3").output
            let full = try await Inspection.run(path, "--values", options.first ?? "--dialect=v3").output
            #expect(plain.contains("task-1"))
            for value in ["secret", "from the server"] {
                #expect(!plain.contains(value))
                #expect(full.contains(value))
            }
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a conflict shows its code, status and the server's version, and is sent last`(
        _ kind: StoreFixture.Kind
    ) async throws {
        let store = StoreFixture(kind)
        try await store.withServer { server, context, _ in
            let table = context.table("Board")
            try await table.insert(["id": "a", "title": "1"])
            try await context.push()
            try await table.update(id: "a", ["title": "2"])
            try await server.put("a", ["title": "other"], in: "Board")
            _ = try? await context.push()
            try await table.insert(["id": "b", "title": "1"])
            let report = try await Inspection.report(of: store.path())
            let error = try #require(report.operations.first?.error)
            #expect(error.name == "preconditionFailed")
            #expect(error.code == SyncError.Code.preconditionFailed.rawValue)
            #expect(error.status == 412)
            #expect(error.isConflict)
            #expect(error.server?.version != nil)
            #expect(report.operations.first?.lastStatus == 412)
            #expect(report.nextPush.requests.map(\.operation) == report.operations.map(\.id).reversed())
            let ifMatch = try #require(report.nextPush.requests.last?.ifMatch)
            #expect(ifMatch == "\"\(try #require(report.operations.first?.version))\"")
            #expect(
                try await Inspection.text(of: store.path()).contains(
                    "preconditionFailed (-1303), status 412: "))
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a parked operation and the one behind it are not sent`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try store.make { transaction in
            try transaction.upsert([Item(id: "a", fields: ["title": "1"])], in: "Board")
            try transaction.put(
                TableOperation(
                    id: 1, table: "Board", itemID: "a", kind: .insert, state: .parked, refusals: 10))
            try transaction.put(TableOperation(id: 2, table: "Board", itemID: "a", kind: .update))
        }
        let report = try await Inspection.report(of: store.path())
        #expect(report.operations.map(\.state) == ["parked", "pending"])
        #expect(report.operations.map(\.operationsBehind) == [[2], []])
        #expect(report.nextPush.requests.isEmpty)
        #expect(report.nextPush.notSent.map(\.reason) == ["parked", "behind"])
        #expect(report.nextPush.notSent.first?.explanation.contains("refused it 10 times") == true)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a child is held while the insert of its parent is parked`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try store.make { transaction in
            try transaction.upsert([Item(id: "a", fields: ["title": "1"])], in: "Board")
            try transaction.upsert([Item(id: "t", fields: ["text": "1", "board": "a"])], in: "Task")
            try transaction.put(
                TableOperation(
                    id: 1, table: "Board", itemID: "a", kind: .insert, state: .parked, refusals: 10))
            try transaction.put(TableOperation(id: 2, table: "Task", itemID: "t", kind: .insert))
        }
        let report = try await Inspection.report(of: store.path())
        #expect(report.nextPush.requests.isEmpty)
        #expect(report.nextPush.notSent.map(\.reason) == ["parked", "held"])
        #expect(report.nextPush.notSent.last?.explanation.contains("operation 1") == true)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a push reads the row first when the device has never received it`(_ kind: StoreFixture.Kind)
        async throws
    {
        let store = StoreFixture(kind)
        try store.make { transaction in
            try transaction.upsert([Item(id: "a", fields: ["title": "1"])], in: "Board")
            try transaction.put(TableOperation(id: 1, table: "Board", itemID: "a", kind: .update))
        }
        let report = try await Inspection.report(of: store.path())
        #expect(report.nextPush.requests.map { "\($0.method) \($0.path)" } == ["GET /tables/Board/a"])
        #expect(report.nextPush.notSent.map(\.reason) == ["readsRowFirst"])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `delta tokens are listed by query id`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try await store.withServer { server, context, _ in
            try await server.put("a", ["title": "1"], in: "Board")
            try await context.table("Board").pull(queryID: "boards")
            let tokens = try await context.deltaTokens(of: "Board")
            let report = try await Inspection.report(of: store.path())
            let token = try #require(report.deltaTokens.first)
            #expect(report.deltaTokens.count == 1)
            #expect(token.table == "Board")
            #expect(token.queryID == "boards")
            #expect(token.updatedAt == tokens["boards"])
            #expect(token.id == "a")
            #expect(!token.isFirstPull)
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a killed push leaves an operation with unknown outcome that is sent again`(
        _ kind: StoreFixture.Kind
    ) async throws {
        let store = StoreFixture(kind)
        try await store.withServer { server, context, _ in
            let table = context.table("Board")
            try await table.insert(["id": "a", "title": "1"])
            server.inject(.dropAnswer)
            _ = try? await context.push()
            try await table.update(id: "a", ["title": "2"])
            let report = try await Inspection.report(of: store.copyFiles(to: "killed"))
            let operation = try #require(report.operations.first)
            #expect(operation.state == "attempted")
            #expect(operation.sent?.fields == ["title"])
            #expect(operation.lastAttempt != nil)
            #expect(report.nextPush.requests.map(\.method) == ["POST", "PATCH"])
            #expect(report.nextPush.requests.last?.ifMatchOfRequest == 1)
            let text = try await Inspection.text(of: store.path("killed"))
            #expect(text.contains("sent; the outcome is unknown, or it is being sent now"))
            #expect(text.contains("If-Match: the version that request 1 returns"))
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `the next push is the one that the app then makes`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try await store.withServer { server, context, recorder in
            let (boards, tasks) = (context.table("Board"), context.table("Task"))
            for id in ["kept", "edited", "deleted", "conflict"] {
                try await boards.insert(["id": .text(id), "title": "1"])
            }
            try await tasks.insert(["id": "old", "text": "1", "board": "deleted"])
            try await context.push()
            try await boards.update(id: "conflict", ["title": "2"])
            try await server.put("conflict", ["title": "other"], in: "Board")
            _ = try? await context.push()
            try await boards.insert(["id": "lost", "title": "1"])
            server.inject(.dropAnswer)
            _ = try? await context.push(tables: ["Board"])
            try await boards.update(id: "lost", ["title": "2"])
            try await boards.delete(id: "deleted")
            try await tasks.delete(id: "old")
            try await boards.update(id: "edited", ["title": "2"])
            try await tasks.insert(["id": "new", "text": "1", "board": "board"])
            try await boards.insert(["id": "board", "title": "1"])
            let planned = try await Inspection.report(of: store.path()).nextPush.requests
            await recorder.removeAll()
            _ = try? await context.push()
            // The server answers the repeated insert with a conflict, and the push reads the row to prove that it was applied.
            let sent = await recorder.requests.filter { !$0.hasPrefix("GET ") }
            #expect(planned.map { "\($0.method) \($0.path) \($0.fields)" } == sent)
            #expect(sent.count >= 8)
        }
    }
}
