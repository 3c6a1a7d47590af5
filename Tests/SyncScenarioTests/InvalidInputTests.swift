// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Invalid input at every public entry point: a typed error, and no change.
@Suite struct InvalidInputTests {
    /// Expects an error with that code, an unchanged store, and no request.
    private func expectRefusal(
        _ scenario: Scenario, _ device: Device, _ code: SyncError.Code,
        sourceLocation: SourceLocation = #_sourceLocation, _ call: () async throws -> Void
    ) async throws {
        let (items, operations) = (try await device.table.items(), try await device.operations())
        scenario.server.removeRequests()
        let error = await expectError(code, sourceLocation: sourceLocation, call)
        #expect(error?.message.hasSuffix(".") == true, sourceLocation: sourceLocation)
        #expect(try await device.table.items() == items, sourceLocation: sourceLocation)
        #expect(try await device.operations() == operations, sourceLocation: sourceLocation)
        #expect(scenario.server.requests.isEmpty, sourceLocation: sourceLocation)
    }

    /// Runs the body with a device that has inserted the item `x`.
    private func withInsertedItem(on kind: StoreKind, _ body: (Scenario, Device) async throws -> Void)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one"])
            try await body(scenario, a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every write refuses invalid ids`(_ kind: StoreKind) async throws {
        try await withInsertedItem(on: kind) { scenario, a in
            for id in ["", ".", "a/b", "a\nb", "a\u{0}", "a\"b", String(repeating: "x", count: 256)] {
                try await expectRefusal(scenario, a, .invalidItemID) {
                    try await a.table.insert(["id": .text(id)])
                }
                try await expectRefusal(scenario, a, .invalidItemID) {
                    try await a.table.update(id: id, ["text": "?"])
                }
                try await expectRefusal(scenario, a, .invalidItemID) {
                    try await a.table.replace(Item(id: id))
                }
                try await expectRefusal(scenario, a, .invalidItemID) { try await a.table.delete(id: id) }
                try await expectRefusal(scenario, a, .invalidItemID) {
                    try await a.table.delete(Item(id: id))
                }
                #expect(try await a.item(id) == nil)
            }
            for id in [.null, 5, ["x"]] as [ItemValue] {
                try await expectRefusal(scenario, a, .invalidItemID) { try await a.table.insert(["id": id]) }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every write refuses invalid fields`(_ kind: StoreKind) async throws {
        let bad: [[String: ItemValue]] = [
            ["nosuch": 1], ["Text": "x"], ["version": "1"], ["text": 5], ["price": .double(.nan)],
            ["price": .double(.infinity)], ["due": "soon"], ["tags": [.double(.nan)]], ["complete": 1],
        ]
        try await withInsertedItem(on: kind) { scenario, a in
            for fields in bad {
                try await expectRefusal(scenario, a, .invalidItem) { try await a.table.insert(fields) }
                try await expectRefusal(scenario, a, .invalidItem) {
                    try await a.table.update(id: "x", fields)
                }
                try await expectRefusal(scenario, a, .invalidItem) {
                    try await a.table.replace(Item(id: "x", fields: fields))
                }
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `insert refuses an existing item, and update, replace and delete refuse a missing one`(
        _ kind: StoreKind
    ) async throws {
        try await withInsertedItem(on: kind) { scenario, a in
            try await expectRefusal(scenario, a, .itemAlreadyExists) { try await a.table.insert(["id": "x"]) }
            try await expectRefusal(scenario, a, .itemNotFound) {
                try await a.table.update(id: "y", ["text": "?"])
            }
            try await expectRefusal(scenario, a, .itemNotFound) { try await a.table.replace(Item(id: "X")) }
            try await expectRefusal(scenario, a, .itemNotFound) { try await a.table.delete(id: "y") }
            try await a.context.push()
            try await expectRefusal(scenario, a, .itemAlreadyExists) { try await a.table.insert(["id": "x"]) }
            try await a.table.delete(id: "x")
            try await expectRefusal(scenario, a, .itemNotFound) {
                try await a.table.update(id: "x", ["text": "?"])
            }
            try await expectRefusal(scenario, a, .itemNotFound) { try await a.table.delete(id: "x") }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every call refuses an unknown table`(_ kind: StoreKind) async throws {
        try await withInsertedItem(on: kind) { scenario, a in
            let table = a.context.table("todoitem")
            try await expectRefusal(scenario, a, .unknownTable) { try await table.insert(["id": "y"]) }
            try await expectRefusal(scenario, a, .unknownTable) { try await table.update(id: "x", [:]) }
            try await expectRefusal(scenario, a, .unknownTable) { try await table.delete(id: "x") }
            try await expectRefusal(scenario, a, .unknownTable) { _ = try await table.item(id: "x") }
            try await expectRefusal(scenario, a, .unknownTable) { _ = try await table.items() }
            try await expectRefusal(scenario, a, .unknownTable) {
                try await a.context.push(tables: ["todoitem"])
            }
            try await expectRefusal(scenario, a, .unknownTable) { try await a.context.pull(table.query) }
            try await expectRefusal(scenario, a, .unknownTable) { try await a.context.purge(table.query) }
            try await expectRefusal(scenario, a, .unknownTable) {
                _ = try await a.context.deltaTokens(of: "todoitem")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `reads, pulls and purges refuse an invalid query`(_ kind: StoreKind) async throws {
        let queries: [(TableQuery, SyncError.Code)] = [
            (Todo.query.where(.column("nosuch") == 1), .filterNotSupported),
            (Todo.query.where(.column("text") == 1), .filterNotSupported),
            (Todo.query.where(.column("id; DROP TABLE TodoItem") == 1), .filterNotSupported),
            (Todo.query.order(by: "text DESC, (SELECT 1)"), .filterNotSupported),
            (Todo.query.order(by: "tags"), .filterNotSupported),
            (Todo.query.offset(-1), .invalidParameter), (Todo.query.limit(-1), .invalidParameter),
        ]
        try await withInsertedItem(on: kind) { scenario, a in
            for (query, code) in queries {
                try await expectRefusal(scenario, a, code) { _ = try await a.table.items(matching: query) }
                try await expectRefusal(scenario, a, code) { try await a.context.pull(query) }
                try await expectRefusal(scenario, a, code) {
                    try await a.context.purge(query, pending: .discard)
                }
            }
            try await expectRefusal(scenario, a, .invalidParameter) {
                _ = try await a.table.items(matching: TableQuery("Other"))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull refuses invalid settings and queries before it sends a request`(_ kind: StoreKind)
        async throws
    {
        try await withInsertedItem(on: kind) { scenario, a in
            func expectPullRefusal(
                _ code: SyncError.Code, _ query: TableQuery, queryID: String? = "q", size: Int = 50,
                overlap: Duration = .zero
            ) async throws {
                try await expectRefusal(scenario, a, code) {
                    try await a.context.pull(
                        query, queryID: queryID, settings: .pages(of: size, overlap: overlap))
                }
            }
            for queryID in ["", "a\u{0}b", "a\nb", String(repeating: "q", count: 256)] {
                try await expectPullRefusal(.invalidQueryID, Todo.query, queryID: queryID)
            }
            try await expectPullRefusal(.invalidParameter, Todo.query.order(by: "text"))
            try await expectPullRefusal(.invalidParameter, Todo.query.limit(5))
            try await expectPullRefusal(.invalidParameter, Todo.query.offset(5))
            try await expectPullRefusal(.invalidParameter, Todo.query.select("text"), queryID: nil)
            try await expectPullRefusal(.invalidParameter, Todo.query.includingTotalCount(), queryID: nil)
            try await expectPullRefusal(.invalidParameter, Todo.query, size: 0)
            try await expectPullRefusal(.invalidParameter, Todo.query, size: 1001)
            try await expectPullRefusal(.invalidParameter, Todo.query, overlap: .seconds(-1))
            try await expectPullRefusal(.filterNotSupported, Todo.query.where(.column("note") == "mine"))
            for name in ["__includeDeleted", "__INCLUDEDELETED", "$top", "", "__systemproperties"] {
                try await expectPullRefusal(.invalidUserParameter, Todo.query.parameter(name, "true"))
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `any text can be a query ID, and each query ID has a separate delta token`(_ kind: StoreKind)
        async throws
    {
        try await withInsertedItem(on: kind) { scenario, a in
            let ids = [
                "a.b|c", "a.b", "A.B", "'; DROP TABLE x", "é", "e\u{301}", String(repeating: "q", count: 255),
            ]
            for id in ids { try await a.context.pull(Todo.query, queryID: id) }
            #expect(try await a.context.deltaTokens(of: Todo.name).count == ids.count - 1)
            let keys = try a.store.read { try $0.configValues(in: Todo.name, kind: .deltaToken) }
            #expect(keys.count == ids.count)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unreadable page ends the pull, and none of its rows is stored`(_ kind: StoreKind) async throws {
        let pages = [
            "<html>login</html>", "", "null", "{}", #"{"id":"y"}"#, "[1]", "[null]", #"[{"text":"no id"}]"#,
            #"[{"id":5}]"#,
            #"[{"id":"a/b"}]"#, #"[{"id":"y"},{"id":""}]"#, #"[{"id":"y","text":5}]"#,
            #"[{"id":"y","deleted":"yes"}]"#,
            #"[{"id":"y","updatedAt":"soon"}]"#, #"[{"id":"y","updatedAt":5}]"#, #"[{"id":"y","version":5}]"#,
            #"[{"id":"y"}"#,
            #"{"results":{}}"#,
        ]
        try await withInsertedItem(on: kind) { scenario, a in
            try await a.context.push()
            let before = try await a.table.items()
            var settings = PullSettings()
            settings.onUnreadableRow = .fail
            for page in pages {
                scenario.server.onRequest { _ in .answer(status: 200, body: Data(page.utf8)) }
                let error = await expectError(.pullAborted) {
                    try await a.context.pull(Todo.query, queryID: "q", settings: settings)
                }
                #expect(error?.cause != nil, "\(page)")
                #expect(try await a.table.items() == before, "\(page)")
                #expect(try await a.context.deltaTokens(of: Todo.name).isEmpty, "\(page)")
            }
            scenario.server.onRequest(nil)
            try await a.context.pull(Todo.query, queryID: "q")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unreadable response to a write leaves the outcome unknown and loses no change`(_ kind: StoreKind)
        async throws
    {
        let answers = [
            "<html>", "null", "[]", "5", #"{"text":"no id"}"#, #"{"id":"other","version":"v"}"#,
            #"{"id":"x","updatedAt":"soon"}"#, #"{"id":5}"#,
        ]
        for answer in answers {
            try await withInsertedItem(on: kind) { scenario, a in
                scenario.server.onRequest { _ in .applyThenAnswer(status: 201, body: Data(answer.utf8)) }
                _ = try? await a.context.push()
                #expect(try await a.operations().map(\.isAmbiguous) == [true], "\(answer)")
                scenario.server.onRequest(nil)
                try await a.sync()
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every call of a closed context throws contextInvalid`(_ kind: StoreKind) async throws {
        try await withInsertedItem(on: kind) { scenario, a in
            try await a.context.close()
            try await a.context.close()
            let calls: [() async throws -> Void] = [
                { try await a.table.insert(["id": "y"]) }, { try await a.table.update(id: "x", [:]) },
                { try await a.table.delete(id: "x") }, { _ = try await a.table.items() },
                { _ = try await a.item("x") },
                { try await a.context.push() }, { try await a.context.pull(Todo.query) },
                { try await a.context.purge(Todo.query) },
                { _ = try await a.context.pendingOperationCount() },
                { try await a.context.replay(operationID: 1) },
            ]
            for call in calls { await expectError(.contextInvalid) { try await call() } }
        }
    }
}
