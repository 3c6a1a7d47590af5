// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization
import TableServer
import Testing

/// A change that the server refuses is no conflict if its row is in the same state as before.
@Suite struct UnchangedRowTests {
    private static func settings(_ resolver: ConflictResolver) -> SyncSettings {
        var settings = SyncSettings.singleAttempt
        settings.resolver = resolver
        settings.parkAfterRefusals = 2
        return settings
    }

    /// Pulls two rows, updates the first one and deletes the other.
    private func changeRows(_ a: Device, of scenario: Scenario) async throws {
        for id in ["x", "y"] { try await scenario.server.put(id, ["text": "one"], in: Todo.name) }
        try await a.sync()
        try await a.table.update(id: "x", ["text": "two"])
        try await a.table.delete(id: "y")
    }

    /// Expects two pushes to report the refusals of all changes, after which they are parked.
    private func expectRefusals(_ status: Int, _ reason: String, count: Int, of a: Device) async throws {
        for _ in 0..<2 {
            let errors = await a.expectPushErrors()
            #expect(errors.map(\.status) == Array(repeating: status, count: count))
            #expect(errors.allSatisfy { !$0.isConflict && $0.message.contains(reason) })
        }
        #expect(try await a.context.status().parkedOperations == count)
    }

    private func replay(_ a: Device, on scenario: Scenario) async throws {
        scenario.server.onRequest(nil)
        try await a.context.replayParkedOperations()
        try await a.context.push()
        #expect(try await a.operations().isEmpty)
    }

    /// A gateway that does not handle `If-Match`, or compares weak tags strongly.
    @Test(arguments: StoreKind.allCases, [ConflictResolver.serverWins, .clientWins])
    func `a 412 about an unchanged row is a refusal`(_ kind: StoreKind, _ resolver: ConflictResolver)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: Self.settings(resolver))
            try await changeRows(a, of: scenario)
            scenario.server.onRequest { $0.isWrite ? .refusal(412, "no condition") : .none }
            try await expectRefusals(412, "no condition", count: 2, of: a)
            #expect(try await a.texts() == ["two"])
            try await replay(a, on: scenario)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [404, 409])
    func `a refusal in a table without versions is no conflict, and completes no delete`(
        _ kind: StoreKind, _ status: Int
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(
                settings: Self.settings(.serverWins), transport: TransportWithoutVersions())
            try await changeRows(a, of: scenario)
            scenario.server.onRequest { $0.isWrite ? .refusal(status, "not permitted") : .none }
            scenario.server.removeRequests()
            try await expectRefusals(status, "not permitted", count: 2, of: a)
            #expect(scenario.writes().count == 4)
            #expect(try await a.texts() == ["two"])
            try await replay(a, on: scenario)
            #expect(try scenario.serverTexts() == ["two"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a 404 for a row without createdAt that the server lists completes no delete`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(
                settings: Self.settings(.serverWins),
                transport: TransportWithoutVersions(columns: "createdAt"))
            try await changeRows(a, of: scenario)
            scenario.server.onRequest { $0.isWrite ? .refusal(404, "not permitted") : .none }
            try await expectRefusals(404, "not permitted", count: 2, of: a)
            try await replay(a, on: scenario)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: [404, 409, 412], [WireDialect.v2, .v3])
    func `a refusal of an undelete whose row is still deleted is no conflict`(
        _ status: Int, _ dialect: WireDialect
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = scenario.device(
                on: try StoreKind.memory.open(in: scenario.directory, name: "A", tables: [Todo.definition]),
                settings: Self.settings(.serverWins), dialect: dialect)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            // The item is inserted again while its deletion is sent.
            _ = try await scenario.push(a) { _ in
                try await a.table.insert(["id": "x", "text": "again"])
                // The insert finds the tombstone, and becomes an undelete.
                let isRefused: @Sendable (RecordedRequest) -> Bool = { request in
                    request.isWrite && request.method != "DELETE" && request.itemID != nil
                }
                scenario.server.onRequest { isRefused($0) ? .refusal(status, "not unique") : .none }
            }
            let error = try #require(try await a.context.operationErrors().first)
            #expect(!error.isConflict && error.message == "not unique")
            #expect(try await a.texts() == ["again"])
            _ = try await a.expectPushError()
            #expect(try await a.context.status().parkedOperations == 1)
            try await replay(a, on: scenario)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [404, 409, 412])
    func `a column that the server does not have makes no conflict of a refusal`(
        _ kind: StoreKind, _ status: Int
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: Self.settings(.serverWins))
            let isRefusing = Mutex(false)
            scenario.server.onRequest { request in
                if request.isWrite, isRefusing.withLock(\.self) { return .refusal(status, "not unique") }
                return .editFields { $0["priority"] = nil }
            }
            try await a.table.insert(["id": "x", "text": "one", "priority": 1])
            try await a.sync()
            #expect(try await a.item("x")?["priority"] == 1)
            try await a.table.update(id: "x", ["text": "two"])
            isRefusing.withLock { $0 = true }
            try await expectRefusals(status, "not unique", count: 1, of: a)
            #expect(try await a.texts() == ["two"])
        }
    }

    /// The delete continues from the row that an update without an answer has left.
    @Test(arguments: StoreKind.allCases)
    func `a refused delete does not forget an update whose response was lost`(_ kind: StoreKind) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.delete(id: "x")
            scenario.server.inject(.none, when: \.isWrite)
            scenario.server.inject(.refusal(409, "it has children"), when: \.isWrite)
            let error = try await a.expectPushError()
            #expect(!error.isConflict && error.message.contains("it has children"))
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an undelete of a copy that is older than the tombstone is a conflict`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            let copy = try #require(try await a.item("x"))
            try await a.table.update(id: "x", ["text": "two"])
            try await scenario.server.remove("x", in: Todo.name)
            let error = try await a.expectPushError()
            try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            var form = copy
            form["text"] = "three"
            try await a.table.replace(form)
            let second = try await a.expectPushError()
            #expect(second.isConflict && second.serverItem?.system.deleted == true)
            try await a.context.keepAndUpdateItem(for: second, with: try #require(second.item))
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["three"])
            try await scenario.expectAgreement(a)
        }
    }

    /// The repetition of the undelete shows nothing of the update, which the server has refused.
    @Test func `a refused update of a row that was undeleted can be corrected`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(.clientWins))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name)
            try await a.table.update(id: "x", ["text": "taken"])
            scenario.server.onRequest { request in
                let isTaken = String(decoding: request.body, as: UTF8.self).contains("taken")
                return request.method == "PATCH" && isTaken ? .refusal(409, "taken") : .none
            }
            scenario.server.inject(.refusal(503), when: { $0.method == "POST" })
            #expect(try await !a.expectPushError().isConflict)
            try await a.table.update(id: "x", ["text": "free"])
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["free"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: [TableOperation.Kind.update, .delete])
    func `a 404 stands if the service shows neither lists nor rows`(_ change: TableOperation.Kind)
        async throws
    {
        try await Scenario.run(on: .memory, configure: { $0.tables = [.init(Todo.name, softDelete: false)] })
        {
            scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            try await scenario.server.remove("x", in: Todo.name)
            scenario.server.onRequest { $0.isWrite ? .none : .refusal(403) }
            if change == .delete {
                try await a.table.delete(id: "x")
                try await a.context.push()
                #expect(try await a.operations().isEmpty)
            } else {
                try await a.table.update(id: "x", ["text": "two"])
                #expect(try await a.expectPushError().code == .itemNotOnServer)
            }
        }
    }

    /// The app's new version declares a column that the server has added without new versions.
    @Test func `a column that the app declares later makes no conflict of a refusal`() async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            let old = SyncTableDefinition(Todo.name, columns: [Todo.text])
            let a = try scenario.device(tables: [old])
            scenario.server.onRequest { _ in .editFields { $0["priority"] = nil } }
            try await scenario.server.put("x", ["text": "one", "priority": 5], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "two"])
            try a.store.close()
            let b = try scenario.device(
                settings: .resolving(.serverWins),
                tables: [SyncTableDefinition(Todo.name, columns: [Todo.text, Todo.priority])])
            scenario.server.onRequest { $0.isWrite ? .refusal(409, "not unique") : .none }
            #expect(try await b.expectPushError().message == "not unique")
            #expect(try await b.texts() == ["two"])
        }
    }
}
