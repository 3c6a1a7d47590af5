// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Columns that are declared, removed or made local-only while changes of their items are pending.
@Suite struct ChangedColumnTests {
    private static func table(_ columns: SyncColumn...) -> SyncTableDefinition {
        SyncTableDefinition(Todo.name, columns: columns)
    }

    private static let fewer = table(Todo.text)
    private static let both = table(Todo.text, Todo.priority)
    private static let localOnly = table(Todo.text, SyncColumn("priority", .integer, isLocalOnly: true))

    private static let withoutPriority: [String: ItemValue] = ["text": "a"]
    private static let withPriority: [String: ItemValue] = ["text": "a", "priority": 1]

    /// Opens the device's store with this table.
    private static func open(
        _ table: SyncTableDefinition, in scenario: Scenario, dialect: WireDialect = .v2
    ) throws -> Device {
        let store = try scenario.kind.open(in: scenario.directory, name: "A", tables: [table])
        return scenario.device(on: store, settings: .singleAttempt, dialect: dialect)
    }

    /// Pulls the row "1", changes its priority from 1 to 2, and opens the store again with this table.
    private static func open(
        _ table: SyncTableDefinition, afterEditIn scenario: Scenario
    ) async throws -> Device {
        try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
        let device = try open(both, in: scenario, dialect: .v3)
        try await device.sync()
        try await device.table.update(id: "1", ["priority": 2])
        try await device.context.close()
        return try open(table, in: scenario, dialect: .v3)
    }

    /// Attempts an insert or an update of both columns of the item "1" with that fault at the server.
    private func attempt(
        _ operation: TableOperation.Kind, _ fault: ServerFault, in scenario: Scenario
    ) async throws {
        let device = try Self.open(Self.both, in: scenario)
        try await device.table.insert(["id": "1", "text": "a", "priority": 1])
        if operation == .update {
            try await device.context.push()
            try await device.table.update(id: "1", ["text": "b", "priority": 2])
        }
        try await push(device, failingBy: fault, in: scenario)
    }

    /// Pushes with that fault at the server, and closes the context.
    private func push(_ device: Device, failingBy fault: ServerFault, in scenario: Scenario) async throws {
        scenario.server.inject(fault, when: \.isWrite)
        await expectError(.pushAbortedNetwork) { try await device.context.push() }
        try await device.context.close()
    }

    @Test(arguments: StoreKind.persistent, [false, true])
    func `a change without a base does not remove the value of a column that is declared later`(
        _ kind: StoreKind, isRetried: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("1", ["text": "a", "priority": 5], in: Todo.name)
            // The server adds the column afterwards.
            scenario.server.onRequest { $0.isPage ? .editFields { $0["priority"] = nil } : .none }
            var device = try Self.open(Self.fewer, in: scenario)
            try await device.sync()
            try device.changeDirectly("1") { $0["text"] = "b" }
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            if isRetried {
                scenario.server.inject(.dropRequest, when: \.isWrite)
                await expectError(.pushAbortedNetwork) { try await device.context.push() }
            }
            try await device.context.close()

            scenario.server.onRequest(nil)
            device = try Self.open(Self.both, in: scenario)
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 5])
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [withoutPriority, withPriority])
    func `a value that was entered while a column was local-only is not sent with an earlier edit`(
        _ kind: StoreKind, fields: [String: ItemValue]
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("1", fields, in: Todo.name)
            var device = try Self.open(Self.both, in: scenario)
            try await device.sync()
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.close()

            device = try Self.open(Self.localOnly, in: scenario)
            try await device.table.update(id: "1", ["priority": 5])
            try await device.context.close()

            device = try Self.open(Self.both, in: scenario)
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == fields.merging(["text": "b"]) { $1 })
            try await device.sync()
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an applied attempt that sent a removed date is no conflict of the next change`(_ kind: StoreKind)
        async throws
    {
        let dated = Self.table(Todo.text, SyncColumn("when", .date), SyncColumn("image", .data))
        let dates = try ["2026-01-01T00:00:00.5Z", "2026-01-02T00:00:00.25Z"].map { text in
            ItemValue.date(try #require(Timestamp(text)))
        }
        let images = [Data([1]), Data([2, 3])].map(ItemValue.data)
        try await Scenario.run(on: kind) { scenario in
            var device = try Self.open(dated, in: scenario)
            try await device.table.insert(["id": "1", "text": "a", "when": dates[0], "image": images[0]])
            try await device.sync()
            try await device.table.update(id: "1", ["when": dates[1], "image": images[1]])
            try await push(device, failingBy: .dropAnswer, in: scenario)

            device = try Self.open(Self.fewer, in: scenario)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["b"])
            try await device.context.close()

            device = try Self.open(dated, in: scenario)
            try await device.sync()
            let expected: [String: ItemValue] = ["text": "b", "when": dates[1], "image": images[1]]
            #expect(try await device.item("1")?.fields == expected)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [WireDialect.v2, .v3])
    func `an attempt of which a column was removed is compared with it, too`(
        _ kind: StoreKind, _ dialect: WireDialect
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            func open(_ table: SyncTableDefinition) throws -> Device {
                try Self.open(table, in: scenario, dialect: dialect)
            }
            for id in ["edited", "deleted"] {
                try await scenario.server.put(id, ["text": "a", "priority": 1], in: Todo.name)
            }
            var device = try open(Self.both)
            try await device.sync()
            try await device.table.update(id: "edited", ["priority": 2])
            try await device.table.update(id: "deleted", ["text": "b", "priority": 2])
            for fault in [ServerFault.dropRequest, .dropAnswer] {
                scenario.server.inject(fault, when: \.isWrite)
                await expectError(.pushAbortedNetwork) { try await device.context.push() }
            }
            try await device.context.close()
            try await scenario.server.update("edited", ["text": "theirs"], in: Todo.name)
            try await scenario.server.update("deleted", ["priority": 7], in: Todo.name)

            device = try open(Self.fewer)
            try await device.table.delete(id: "deleted")
            let error = try await device.expectPushError()
            // The edit of the other item is not sent any more.
            #expect(error.itemID == "deleted" && error.isConflict)
            #expect(try scenario.row("deleted")?.fields["priority"] == 7)
            #expect(try scenario.row("edited")?.fields["text"] == "theirs")
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [fewer, localOnly])
    func `an insert whose attempt has a removed column is merged with another client's change`(
        _ kind: StoreKind, _ table: SyncTableDefinition
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try Self.open(Self.both, in: scenario)
            try await device.table.insert(["id": "1", "text": "a", "priority": 2])
            try await push(device, failingBy: .dropAnswer, in: scenario)
            try await scenario.server.update("1", ["text": "theirs", "priority": 3], in: Todo.name)

            let store = try kind.open(in: scenario.directory, name: "A", tables: [table])
            device = scenario.device(on: store, settings: .resolving(.fieldMerge(onClash: .keepPending)))
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "theirs", "priority": 3])
            #expect(try await device.item("1")?["text"] == "theirs")
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [TableOperation.Kind.insert, .update])
    func `an attempt with a column that the server has dropped, too, is proven by the others`(
        _ kind: StoreKind, _ operation: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await attempt(operation, .dropAnswer, in: scenario)
            let applied = try #require(try scenario.row("1")?.fields["text"])
            try await scenario.server.put("1", ["text": applied], in: Todo.name)
            let device = try Self.open(Self.fewer, in: scenario)
            try await device.table.update(id: "1", ["text": "c"])
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["c"])
            #expect(try await device.operations().isEmpty)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [TableOperation.Kind.insert, .update])
    func `an attempt with a removed column is sent anew if the service does not show the row`(
        _ kind: StoreKind, _ operation: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await attempt(operation, .dropRequest, in: scenario)
            scenario.server.onRequest { $0.isWrite ? .none : .refusal(403) }
            let device = try Self.open(Self.fewer, in: scenario)
            try await device.context.push()
            #expect(try scenario.serverTexts() == [operation == .insert ? "a" : "b"])
            #expect(try await device.operations().isEmpty)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a corrected attempt is not sent in its former form if the service does not show the row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["text": "wrong"])
            scenario.server.inject(.dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await device.context.push() }
            scenario.server.inject(.refusal(400), when: \.isWrite)
            _ = try await device.expectPushError()
            try await device.table.update(id: "1", ["text": "right"])
            scenario.server.removeRequests()
            scenario.server.onRequest { $0.isWrite ? .none : .refusal(403) }
            _ = try await device.expectPushError()
            #expect(scenario.writes().isEmpty)
            scenario.server.onRequest(nil)
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["right"])
        }
    }

    @Test(arguments: StoreKind.persistent, [withoutPriority, withPriority])
    func `a value that an unsent item gets while its column is local-only is inserted with it`(
        _ kind: StoreKind, _ fields: [String: ItemValue]
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try Self.open(Self.both, in: scenario)
            try await device.table.insert(fields.merging(["id": "1"]) { $1 })
            try await device.context.close()
            device = try Self.open(Self.localOnly, in: scenario)
            try await device.table.update(id: "1", ["priority": 5])
            try await device.context.close()
            device = try Self.open(Self.both, in: scenario)
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "a", "priority": 5])
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a value that a column gets while it is local-only is not sent after a pull of its row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            var device = try Self.open(Self.both, in: scenario, dialect: .v3)
            try await device.sync()
            try await device.context.close()
            device = try Self.open(Self.localOnly, in: scenario, dialect: .v3)
            try await scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["priority": 5])
            try await device.context.close()
            device = try Self.open(Self.both, in: scenario, dialect: .v3)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect((try scenario.row("1")?.fields["priority"] ?? .null) == .null)
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [fewer, localOnly])
    func `a change without a base does not send the edit of a column that is no longer synced`(
        _ kind: StoreKind, _ table: SyncTableDefinition
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            var device = try Self.open(Self.both, in: scenario, dialect: .v3)
            try await device.sync()
            try device.changeDirectly("1") { item in
                item["text"] = "b"
                item["priority"] = 2
            }
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await device.context.close()
            device = try Self.open(table, in: scenario, dialect: .v3)
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 1])
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a value of a former row does not come back after a decision for the server's row`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("1", ["text": "a", "priority": 5], in: Todo.name)
            var device = try Self.open(Self.both, in: scenario)
            try await device.sync()
            try await device.context.close()
            device = try Self.open(Self.fewer, in: scenario)
            try await scenario.server.remove("1", in: Todo.name, leavingTombstone: false)
            try await scenario.server.put("1", ["text": "theirs"], in: Todo.name)
            try await device.table.update(id: "1", ["text": "b"])
            let error = try await device.expectPushError()
            let row = try #require(error.serverItem)
            try await device.context.keepAndUpdateItem(for: error, with: row)
            try await device.context.push()
            try await device.context.close()
            device = try Self.open(Self.both, in: scenario)
            try await device.sync()
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [fewer, localOnly])
    func `an applied attempt that only sent a removed column is no conflict of the next change`(
        _ kind: StoreKind, _ table: SyncTableDefinition
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            var device = try Self.open(Self.both, in: scenario)
            try await device.sync()
            try await device.table.update(id: "1", ["priority": 2])
            try await push(device, failingBy: .dropAnswer, in: scenario)

            device = try Self.open(table, in: scenario)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 2])
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an edit of a removed column that a push has dropped is not sent by a later update`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try await Self.open(Self.fewer, afterEditIn: scenario)
            try await device.context.push()
            #expect(try await device.operations().isEmpty)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 1])
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [fewer, localOnly])
    func `an edit of a column that is no longer synced is not sent with a change of the app's database`(
        _ kind: StoreKind, _ table: SyncTableDefinition
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try await Self.open(table, afterEditIn: scenario)
            try device.changeDirectly("1") { $0["text"] = "b" }
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "priority": 1])
            try await device.context.close()
        }
    }
}
