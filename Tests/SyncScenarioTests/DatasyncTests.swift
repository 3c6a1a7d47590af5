// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Devices that use the dialect v3, next to devices that use v2.
@Suite struct DatasyncTests {
    @Test(arguments: StoreKind.allCases)
    func `offline inserts, edits and deletes reach devices of the other dialect`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let (a, b) = (try scenario.wholeRowDevice("A"), try scenario.device("B"))
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id), "text": "new"]) }
            try await a.sync()
            try await b.sync()
            try await a.table.update(id: "1", ["text": "edited by v3", "priority": 7])
            try await a.table.delete(id: "2")
            try await b.table.update(id: "3", ["text": "edited by v2"])
            try await a.sync()
            try await b.sync()
            try await a.sync()
            #expect(try await a.texts() == ["edited by v2", "edited by v3"])
            #expect(try await b.texts() == ["edited by v2", "edited by v3"])
            #expect(Set(scenario.writes().map(\.method)) == ["POST", "PUT", "PATCH", "DELETE"])
            try await scenario.expectAgreement(a)
            try await scenario.expectAgreement(b)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change of a row that another device has changed is a conflict, and can be kept`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "theirs")
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            try await a.sync()
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an insert whose response was lost is not a conflict, and one of another device is`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.inject(.dropAnswer, when: \.isWrite)
            try await a.sync()
            #expect(scenario.writes().map(\.status) == [nil, 409])
            try await scenario.server.put("y", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "y", "text": "ours"])
            let error = try await a.expectPushError()
            #expect(error.code == .itemAlreadyOnServer)
            #expect(error.serverItem?["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that another device has deleted is a conflict, and is restored with the app's values`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.server.put("x", ["text": "old", "priority": 1], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.remove("x", in: Todo.name)
            // The response to the update, 410, has no row; the one to the insert, 409, has.
            for code in [SyncError.Code.itemNotOnServer, .itemAlreadyOnServer] {
                let error = try await a.expectPushError()
                #expect(error.code == code)
                try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            }
            scenario.server.removeRequests()
            try await a.sync()
            // The undelete has the whole row.
            #expect(scenario.writes().map { $0.parameter("__includedeleted") } == ["true"])
            let row = try #require(try scenario.row("x"))
            #expect(!row.deleted)
            #expect(row.fields["text"] == "ours")
            #expect(row.fields["priority"] == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a delete of a row that is already deleted is complete`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            try await scenario.server.remove("x", in: Todo.name)
            try await a.sync()
            #expect(scenario.writes().map(\.status) == [410])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [nil, 4] as [Int?])
    func `a pull reads all pages and then only changes`(_ kind: StoreKind, _ pageSize: Int?) async throws {
        try await Scenario.run(on: kind, configure: { $0.pageSize = 5 }) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.putRows(23, interval: .milliseconds(1))
            try await scenario.putRows(12)
            try await scenario.server.remove("row-3", in: Todo.name)
            var settings = PullSettings()
            if let pageSize { settings.pageSize = pageSize }
            try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(try await a.texts().count == 22)
            try await scenario.expectAgreement(a)

            scenario.server.clock.advance(by: .seconds(60))
            try await scenario.server.update("row-20", ["text": "changed"], in: Todo.name)
            try await scenario.server.remove("row-21", in: Todo.name)
            scenario.server.removeRequests()
            try await a.context.pull(Todo.query, queryID: "all", settings: settings)
            #expect(try await a.texts().filter { $0 == "changed" }.count == 1)
            #expect(try await a.texts().count == 21)
            let filters = scenario.server.requests.map { $0.parameter("$filter") ?? "" }
            #expect(filters.allSatisfy { $0.contains("cast(") })
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a query of a table uses the literals and functions of the dialect`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            for (id, text, day) in [("x", "Milk", 30), ("y", "Tea", 30), ("z", "Silk", 31)] {
                try await scenario.server.put(
                    id, ["text": .text(text), "due": .text("2024-05-\(day)T12:00:00.000Z")], in: Todo.name)
            }
            let due = try #require(Timestamp("2024-05-30T18:00:00Z"))
            let filter = Filter.contains(.column("text"), "il") && .column("due") < due
            try await a.context.pull(Todo.query.where(filter), queryID: "filtered")
            #expect(try await a.texts() == ["Milk"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that was inserted again sends no null for columns that it does not have`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.server.put(
                "x", ["text": "old", "complete": true, "price": 1.5], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            try await a.table.insert(["id": "x", "text": "new", "price": nil])
            try await a.sync()
            #expect(try await a.operations().isEmpty)
            // A column of .NET that cannot be null refuses it. The user's own null is sent.
            let sent = try #require(scenario.writes().last)
            #expect(sent.method == "PUT")
            #expect(try ItemValue(json: sent.body) == ["id": "x", "text": "new", "price": nil])
            #expect(try scenario.row("x")?.fields["complete"] ?? nil == nil)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: [
        (3.0, "3"), (-4.0, "-4"), (0.5, "0.5"), (-0.0, "-0.0"), (0x1p53, "9007199254740992"),
        (0x1p60, "1.152921504606847e+18"),
    ])
    func `a whole number is sent without a point, which an integer column would refuse`(
        number: Double, text: String
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.wholeRowDevice()
            try await a.table.insert(["id": "x", "price": .double(number)])
            try await a.sync()
            try await a.table.update(id: "x", ["text": "edited"])
            try await a.sync()
            for request in scenario.writes() {
                #expect(String(decoding: request.body, as: UTF8.self).contains("\"price\":\(text)"))
            }
            #expect(try await a.item("x")?["price"] == .double(number))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an empty 500 is the refusal of a change if the server accepts others`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 1
            let a = scenario.device(
                on: try kind.open(in: scenario.directory, name: "A", tables: [Todo.definition]),
                settings: settings, dialect: .v3)
            scenario.server.onRequest {
                String(decoding: $0.body, as: UTF8.self).contains("poison") ? .answer(status: 500) : .none
            }
            try await a.table.insert(["id": "poison"])
            try await a.table.insert(["id": "fine"])
            #expect(try await a.expectPushError().itemID == "poison")
            #expect(try scenario.row("fine") != nil)
            #expect(try await a.operations().map(\.state) == [.parked])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull by a long list of values is one condition`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            for number in 0..<30 {
                try await scenario.server.put("\(number)", ["text": .text("p\(number)")], in: Todo.name)
            }
            let values = (0..<20).map { "p\($0)" }
            try await a.context.pull(Todo.query.where(.isIn(.column("text"), values)), queryID: "mine")
            #expect(try await a.texts().count == 20)
            try await scenario.server.put("new", ["text": "p3"], in: Todo.name)
            try await a.context.pull(Todo.query.where(.isIn(.column("text"), values)), queryID: "mine")
            #expect(try await a.item("new") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an undelete keeps the other columns of a tombstone of which a pull has requested only the id`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let store = try kind.open(in: scenario.directory, name: "A", tables: [Todo.definition])
            let a = scenario.device(on: store, settings: .resolving(.clientWins), dialect: .v3)
            try await scenario.server.put("x", ["text": "a", "extra": "kept"], in: Todo.name)
            for id in ["y", "z"] { try await scenario.server.put(id, ["text": "b"], in: Todo.name) }
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.remove("x", in: Todo.name)
            let query = Todo.query.order(by: "text").offset(1)
            try await a.context.pull(query, settings: .withoutPush)
            #expect(try await a.operations().map(\.base?.system.deleted) == [true])
            try await a.context.push()
            let row = try #require(try scenario.row("x"))
            #expect(!row.deleted && row.fields["text"] == "ours" && row.fields["extra"] == "kept")
            #expect(try await a.texts() == ["b", "b", "ours"])
        }
    }
}
