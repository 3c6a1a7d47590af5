// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Values and ids sent from one device to another.
@Suite struct ValueTests {
    @Test(arguments: StoreKind.allCases)
    func `every value is equal on both devices after sync`(_ kind: StoreKind) async throws {
        let time = try #require(Timestamp("2024-02-29T23:59:59.1234567Z"))
        let values: [[String: ItemValue]] = [
            ["text": ""], ["text": "a\u{0}b\"\\\u{1F}\u{7F}\u{2028}é e\u{301}😀"], ["text": .null], [:],
            ["complete": true], ["complete": false], ["priority": 0], ["priority": .int(.max)],
            ["priority": .int(.min)],
            ["priority": .int((1 << 53) + 1)], ["price": 0.0], ["price": -0.0],
            ["price": .double(.leastNonzeroMagnitude)],
            ["price": .double(.greatestFiniteMagnitude)],
            ["price": 0.1], ["price": .double(0x1p53)], ["due": .date(time)],
            ["due": .date(time.showing(fractionDigits: 0))],
            ["photo": .data(Data())], ["photo": .data(Data(0...255))], ["tags": []],
            ["tags": ["a", nil, [1, 2.5], ["k": true]]],
            ["tags": ["$date": "x"]], ["tags": "text"], ["tags": 5],
            ["text": .text(String(repeating: "long ", count: 10_000))],
        ]
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try scenario.device("A"), try scenario.device("B"))
            for (number, fields) in values.enumerated() {
                var item = fields
                item["id"] = .text("\(number)")
                let stored = try await a.table.insert(item)
                #expect(stored.fields == fields)
            }
            try await a.sync()
            try await b.sync()
            for (number, fields) in values.enumerated() {
                #expect(try await a.item("\(number)")?.fields == fields, "\(fields)")
                #expect(try await b.item("\(number)")?.fields == fields, "\(fields)")
            }
            try await scenario.expectAgreement(b)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `ids are compared by bytes and sent as one path segment`(_ kind: StoreKind)
        async throws
    {
        let ids = [
            "a", "A", "é", "e\u{301}", "a b", "%2F", "it's", "a&b=c;d", "😀", "ab", "a\u{202E}b",
            "DROP TABLE x;--", "...", "a:b@c",
        ]
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try scenario.device("A"), try scenario.device("B"))
            for id in ids { try await a.table.insert(["id": .text(id), "text": .text(id)]) }
            try await a.sync()
            for id in ids { try await a.table.update(id: id, ["priority": 1]) }
            try await a.sync()
            try await b.sync()
            #expect(try await b.table.items().count == ids.count)
            for id in ids {
                #expect(try await b.item(id)?["text"]?.textValue?.utf8.elementsEqual(id.utf8) == true)
            }
            try await scenario.expectAgreement(b)
            for id in ids { try await b.table.delete(id: id) }
            try await b.sync()
            try await a.sync()
            #expect(try await a.table.items().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `local-only columns are not sent, and undeclared columns are ignored`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one", "note": "mine"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "one"])
            try await scenario.server.update(
                "x", ["text": "theirs", "note": "no", "unknown": 5], in: Todo.name)
            try await a.sync()
            #expect(try await a.item("x")?.fields == ["text": "theirs", "note": "mine"])
            scenario.server.removeRequests()
            try await a.table.update(id: "x", ["note": "again"])
            try await a.context.push()
            #expect(scenario.server.requests.isEmpty)
            #expect(try await a.operations().isEmpty)
            #expect(try await a.item("x")?["note"] == "again")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an update sends changed fields, null for removed fields, and the version`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "one", "priority": 1, "price": 2.5])
            try await a.context.push()
            var item = try #require(try await a.item("x"))
            item["priority"] = nil
            item["price"] = 3.5
            try await a.table.replace(item)
            try await a.context.push()
            let request = try #require(scenario.writes().last)
            #expect(try ItemValue(json: request.body) == ["id": "x", "priority": nil, "price": 3.5])
            #expect(request.header("If-Match") == "\"MQ==\"")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `whole items are sent when sendsChangedFieldsOnly is off`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.sendsChangedFieldsOnly = false
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "one", "priority": 1, "note": "mine"])
            try await a.context.push()
            try await a.table.update(id: "x", ["priority": 2])
            try await a.context.push()
            let request = try #require(scenario.writes().last)
            #expect(try ItemValue(json: request.body) == ["id": "x", "text": "one", "priority": 2])
            try await scenario.expectAgreement(a)
        }
    }

    /// The server computes a field, or another client has changed it.
    @Test(arguments: StoreKind.allCases)
    func `a whole item whose response is lost is complete if the row has the fields that it changed`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.sendsChangedFieldsOnly = false
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.context.push()
            try await a.table.update(id: "x", ["text": "two"])
            await a.pushLosingResponse(of: scenario.server)
            try await scenario.server.update("x", ["priority": 6], in: Todo.name)
            try await a.context.push()
            #expect(try await a.item("x")?["priority"] == 6)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `every write of a known row sends its exact version`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            for version in [#"a"b"#, #"\"#, "a,b", "W/x", "*", " ", "==", "\"\""] {
                let row = ItemValue.object(["id": "v", "text": "one", "version": .text(version)])
                scenario.server.onRequest { request in
                    guard request.isPage else { return .refusal(400) }
                    return .answer(status: 200, body: ItemValue.array([row]).json)
                }
                try await a.context.pull(Todo.query.limit(1))
                #expect(try await a.item("v")?.system.version == version)
                scenario.server.removeRequests()
                try await a.table.update(id: "v", ["text": "two"])
                _ = try? await a.context.push()
                let quoted = "\"" + version.replacing("\"", with: "\\\"") + "\""
                #expect(scenario.writes().map { $0.header("If-Match") } == [quoted], "\(version)")
                try await a.context.purge(Todo.query, pending: .discard)
            }
            scenario.server.onRequest(nil)
        }
    }
}
