// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore
import TableServer
import Testing

/// An unreadable row is skipped and listed; the rest of its page is stored, and the token advances.
@Suite struct UnreadableRowTests {
    private static func page(_ unreadable: String) -> Data {
        let rows = [
            #"{"id":"a","text":"one","version":"1","updatedAt":"2020-01-01T00:00:01.000Z"}"#, unreadable,
            #"{"id":"z","text":"two","version":"1","updatedAt":"2020-01-01T00:00:03.000Z"}"#,
        ]
        return Data("[\(rows.joined(separator: ","))]".utf8)
    }

    private static let tail = #""version":"1","updatedAt":"2020-01-01T00:00:02.000Z"}"#

    @Test(
        arguments: StoreKind.allCases,
        [
            (#"{"id":"m","priority":2.5,"#, "m", "priority"),
            (#"{"id":"m","priority":9223372036854776000,"#, "m", "priority"),
            (#"{"id":"m","text":"a\ud800b","#, "m", "text"), (#"{"id":"m","text":"\x","#, "m", "text"),
            (#"{"id":"m","price":1e999,"#, "m", "price"),
            (#"{"id":"m","tags":["a\udc00",{"b":[1]}],"#, "m", "tags"),
            (#"{"id":"m/n","#, "m/n", "id"), (#"{"id":"","#, nil, "id"), (#"{"id":17,"#, nil, "id"),
            (#"{"#, nil, "id"),
            (#"{"id":"m","due":"soon","#, "m", "due"), (#"{"id":"m","photo":"***","#, "m", "photo"),
            (#"{"id":"m","deleted":"no","#, "m", "deleted"), (#"{"id":"m","createdAt":5,"#, "m", "createdAt"),
        ] as [(String, String?, String)])
    func `one unreadable row is listed and the others are stored`(
        _ kind: StoreKind, _ row: (json: String, id: String?, column: String)
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            scenario.server.inject(
                .answer(status: 200, body: Self.page(row.json + Self.tail)), when: \.isPage)
            let result = try await a.context.pull(Todo.query, queryID: "all")
            #expect(try await a.table.items().map(\.id) == ["a", "z"])
            #expect(result.unreadable.map(\.id) == [row.id])
            #expect(result.unreadable.map(\.column) == [row.column])
            #expect(result.unreadable.allSatisfy { $0.table == Todo.name && !$0.reason.isEmpty })
            #expect(result.deltaToken == "2020-01-01T00:00:03.000Z")

            var strict = PullSettings()
            strict.onUnreadableRow = .fail
            scenario.server.inject(
                .answer(status: 200, body: Self.page(row.json + Self.tail)), when: \.isPage)
            await expectError(.pullAborted) {
                try await a.context.pull(Todo.query, queryID: "strict", settings: strict)
            }
            #expect(try await a.context.deltaTokens(of: Todo.name)["strict"] == nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unreadable row of a page whose commit is unknown is listed by the next pull`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let store = FaultingStore(
                try kind.open(in: scenario.directory, name: "F", tables: [Todo.definition]))
            let a = scenario.device(on: store)
            try await a.context.pull(Todo.query, queryID: "all", settings: .withoutPush)
            let page = Self.page(#"{"id":"m","priority":2.5,"# + Self.tail)
            scenario.server.inject(.answer(status: 200, body: page), when: \.isPage)
            store.faults.failingAfterCommit = store.calls.writes + 1
            await expectError(.storeFailure) {
                try await a.context.pull(Todo.query, queryID: "all", settings: .withoutPush)
            }
            let result = try await a.context.pull(Todo.query, queryID: "all", settings: .withoutPush)
            #expect(result.unreadable.map(\.id) == ["m"])
            #expect(try await a.table.items().map(\.id) == ["a", "z"])
        }
    }

    @Test func `at most a thousand unreadable rows are listed, and the pull goes on`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            let rows = (0...PullResult.maxUnreadable).map {
                "{\"id\":\"\($0)\",\"priority\":2.5," + Self.tail
            }
            let body = "[\((rows + [#"{"id":"z","text":"last","# + Self.tail]).joined(separator: ","))]"
            scenario.server.inject(.answer(status: 200, body: Data(body.utf8)), when: \.isPage)
            let result = try await a.pullWithoutPush()
            #expect(result.received == rows.count + 1)
            #expect(result.unreadable.map(\.id) == (0..<PullResult.maxUnreadable).map(String.init))
            #expect(try await a.table.items().map(\.id) == ["z"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `values that can be converted without loss are read`(_ kind: StoreKind) async throws {
        let row =
            #"{"id":"m","price":1152921504606847000,"priority":3.0,"due":"2016-12-31T23:59:60Z","photo":"AQI","#
            + Self.tail
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            scenario.server.inject(.answer(status: 200, body: Self.page(row)), when: \.isPage)
            let result = try await a.context.pull(Todo.query, queryID: "all")
            #expect(result.unreadable.isEmpty)
            let item = try await a.item("m")
            #expect(item?["price"] == .double(0x1p60))
            #expect(item?["priority"] == 3)
            #expect(item?["due"] == Timestamp("2017-01-01T00:00:00Z").map(ItemValue.date))
            #expect(item?["photo"] == .data(Data([1, 2])))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a tombstone needs no readable fields, and an unreadable row changes neither a pending item nor its operation`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            for id in ["gone", "edited"] {
                try await scenario.server.put(id, ["text": "one"], in: Todo.name)
            }
            try await a.context.pull(Todo.query, queryID: "all")
            try await a.table.update(id: "edited", ["text": "ours"])
            let rows =
                #"[{"id":"gone","deleted":true,"priority":"no","version":"2","updatedAt":"2099-01-01T00:00:00Z"},"#
                + #"{"id":"edited","priority":"no","version":"2","updatedAt":"2099-01-01T00:00:00Z"}]"#
            scenario.server.inject(.answer(status: 200, body: Data(rows.utf8)), when: \.isPage)
            let result = try await a.pullWithoutPush()
            #expect(result.deleted == 1)
            #expect(result.unreadable.map(\.id) == ["edited"])
            #expect(try await a.texts() == ["ours"])
            #expect(try await a.operations().map(\.serverItem) == [nil])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an unreadable row at the end of a page or of the pull does not block the pull`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind, rows: 7) { scenario, a in
            scenario.server.onRequest { _ in
                .editFields { fields in
                    if ["row-2", "row-6"].contains(fields["id"]?.textValue) { fields["id"] = 5 }
                }
            }
            for queryID in ["all", nil] {
                let result = try await a.context.pull(Todo.query, queryID: queryID, settings: .pages(of: 3))
                #expect(result.unreadable.contains { $0.column == "id" })
                #expect(try await a.table.items().count == 5)
                try await a.context.purge(Todo.query)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a value that is not valid JSON in the response to a write does not keep the write pending`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("m", ["text": "one"], in: Todo.name)
            try await a.sync()
            // Another client has written half an emoji into a column that this app does not declare.
            let row = Data(#"{"id":"m","text":"two","bio":"\ud83d","version":"Mg=="}"#.utf8)
            try await a.table.update(id: "m", ["text": "two"])
            scenario.server.inject(.applyThenAnswer(status: 200, body: row), when: \.isWrite)
            #expect(try await a.context.push().completed == 1)
            #expect(try await a.item("m")?["text"] == "two")

            try await scenario.server.update("m", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "m", ["text": "mine"])
            let theirs = Data(#"{"id":"m","text":"theirs","bio":"\ud83d","version":"Mw=="}"#.utf8)
            scenario.server.inject(.answer(status: 412, body: theirs), when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a conflict with a row that is as deep as JSON may be can be read and decided later`(
        _ kind: StoreKind
    )
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("m", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "m", ["text": "mine"])
            let deep = String(repeating: "[", count: 99) + String(repeating: "]", count: 99)
            let theirs = Data(#"{"id":"m","text":"theirs","extra":\#(deep),"version":"Mg=="}"#.utf8)
            for _ in 0..<2 {
                scenario.server.inject(.answer(status: 412, body: theirs), when: \.isWrite)
                let error = try await a.expectPushError()
                #expect(error.serverItem?["text"] == "theirs")
                #expect(try await a.context.operationErrors() == [error])
            }
            let error = try #require(try await a.context.operationErrors().first)
            try await a.context.cancelAndDiscardItem(for: error)
            #expect(try await a.item("m")?["text"] == "theirs")
        }
    }
}
