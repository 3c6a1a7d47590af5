// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A newer version of the app no longer declares a column that has values and queued changes.
@Suite struct RemovedColumnTests {
    private static let fewer = SyncTableDefinition(
        Todo.name, columns: Todo.definition.columns.filter { !["priority", "note"].contains($0.name) })

    private static let localPriority = SyncTableDefinition(
        Todo.name,
        columns: Todo.definition.columns.map {
            $0.name == "priority" ? SyncColumn("priority", .integer, isLocalOnly: true) : $0
        })

    /// Opens the store of a device whose updates replace the whole row.
    private static func open(_ table: SyncTableDefinition, in scenario: Scenario) throws -> Device {
        let store = try scenario.kind.open(in: scenario.directory, name: "A", tables: [table])
        return scenario.device(on: store, dialect: .v3)
    }

    /// Prepares rows without and with pending changes, then opens the store without the columns.
    private func withRemovedColumns(
        on kind: StoreKind, settings: SyncSettings = SyncSettings(),
        _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device()
            for id in ["plain", "edited", "deleted"] {
                try await scenario.server.put(id, ["text": .text(id), "priority": 1], in: Todo.name)
            }
            try await device.sync()
            try await device.table.update(id: "edited", ["text": "ours", "priority": 2, "note": "private"])
            try await device.table.delete(id: "deleted")
            try await device.context.close()
            device = try scenario.device(settings: settings, tables: [Self.fewer])
            try await body(scenario, device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an item can be read and replaced`(_ kind: StoreKind) async throws {
        try await withRemovedColumns(on: kind) { scenario, device in
            var item = try #require(try await device.item("plain"))
            #expect(item.fields == ["text": "plain"])
            item["text"] = "changed"
            try await device.table.replace(item)
            try await device.context.push()
            #expect(try scenario.row("plain")?.fields == ["text": "changed", "priority": 1])
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `operations queued before a column was removed can be discarded`(_ kind: StoreKind) async throws {
        try await withRemovedColumns(on: kind) { scenario, device in
            for id in ["edited", "deleted"] {
                try await scenario.server.update(id, ["text": "theirs"], in: Todo.name)
            }
            scenario.server.inject(.refusal(400), when: \.isWrite)
            scenario.server.inject(.refusal(400), when: \.isWrite)
            for error in await device.expectPushErrors() {
                try await device.context.cancelAndDiscardItem(for: error)
            }
            #expect(try await device.item("edited")?.fields == ["text": "edited"])
            #expect(try await device.item("deleted")?.fields == ["text": "deleted"])
            try await device.sync()
            try await #expect(device.texts() == ["plain", "theirs", "theirs"])
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a field merge ignores a removed column`(_ kind: StoreKind) async throws {
        var settings = SyncSettings()
        settings.resolver = .fieldMerge(onClash: .serverWins)
        try await withRemovedColumns(on: kind, settings: settings) { scenario, device in
            try await scenario.server.update("edited", ["complete": true, "priority": 7], in: Todo.name)
            try await device.sync()
            let expected: [String: ItemValue] = ["text": "ours", "complete": true]
            #expect(try await device.item("edited")?.fields == expected)
            #expect(try scenario.row("edited")?.fields == expected.merging(["priority": 7]) { $1 })
            #expect(try await device.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a column that became local-only is not sent, also not by a retry`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device(settings: .singleAttempt)
            try await device.table.insert(["id": "1", "text": "a"])
            try await device.sync()
            try await device.table.update(id: "1", ["text": "b", "priority": 5])
            scenario.server.inject(.refusal(500), when: \.isWrite)
            _ = try await device.expectPushError()
            #expect(try await device.operations().first?.sent?.fields["priority"] == 5)
            try await device.context.close()

            device = try scenario.device(tables: [Self.localPriority])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b"])
            #expect(try await device.item("1")?["priority"] == 5)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, [false, true])
    func `an item that is kept while a sent column is removed keeps what the attempt has sent`(
        _ kind: StoreKind, _ isInsertedAgain: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await device.sync()
            if isInsertedAgain {
                try await device.table.delete(id: "1")
                try await device.table.insert(["id": "1", "text": "b", "priority": 2])
            } else {
                try await device.table.update(id: "1", ["text": "b", "priority": 2])
            }
            scenario.server.inject(.refusal(500), when: \.isWrite)
            _ = try await device.expectPushError()
            try await device.context.close()

            device = try scenario.device(settings: .singleAttempt, tables: [Self.fewer])
            let error = try #require(try await device.context.operationErrors().first)
            var item = try #require(error.item)
            item["text"] = "c"
            try await device.context.keepAndUpdateItem(for: error, with: item)
            try await device.context.close()

            device = try scenario.device()
            #expect(try await device.item("1")?["priority"] == 2)
            try await device.sync()
            let row = try #require(try scenario.row("1"))
            #expect(row.fields["text"] == "c")
            #expect(row.fields["priority"] == 2)
            #expect(try await device.item("1")?["priority"] == 2)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an edit of a removed column that a push has dropped is replaced when the column is declared again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device()
            // The delta token is past the first row.
            for id in ["1", "2"] {
                try await scenario.server.put(id, ["text": "a", "priority": 1], in: Todo.name)
                scenario.server.clock.advance(by: .seconds(60))
            }
            try await device.sync()
            try await device.table.update(id: "1", ["priority": 2])
            try await device.context.close()

            device = try scenario.device(tables: [Self.fewer])
            try await device.context.push()
            #expect(try await device.operations().isEmpty)
            try await device.context.close()

            device = try scenario.device()
            try await device.sync()
            #expect(try await device.item("1")?["priority"] == 1)
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a value that a push has dropped does not come back when the column is declared again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device()
            try await device.table.insert(["id": "pushed", "text": "a", "priority": 5])
            try await device.table.insert(["id": "pulled", "text": "a", "priority": 5])
            try await device.context.close()

            device = try scenario.device(tables: [Self.fewer])
            try await device.sync()
            try await scenario.server.update("pulled", ["text": "b"], in: Todo.name)
            try await device.sync()
            try await device.context.close()

            device = try scenario.device()
            for _ in 0..<2 {
                for id in ["pushed", "pulled"] {
                    #expect(try await device.item(id)?["priority"] ?? .null == .null)
                }
                #expect(try await device.operations().isEmpty)
                try await device.sync()
            }
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, ["Priority", "priority"])
    func `a whole-row update keeps a value that was not readable before, or has a name in another case`(
        _ kind: StoreKind, name: String
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            func open(_ table: SyncTableDefinition) throws -> Device { try Self.open(table, in: scenario) }
            var device = try open(Self.fewer)
            let isReadable = name != "priority"
            let first: ItemValue = isReadable ? 7 : "none"
            try await scenario.server.put("1", ["text": "a", name: first], in: Todo.name)
            try await device.sync()
            for text in ["b", "c", "d", "e"] {
                try await device.context.close()
                device = try open(["b", "d"].contains(text) ? Todo.definition : Self.fewer)
                if !isReadable, text == "b" {
                    try await scenario.server.update("1", [name: 7], in: Todo.name)
                    try await device.sync()
                    #expect(try await device.item("1")?["priority"] == 7)
                }
                try await device.table.update(id: "1", ["text": .text(text)])
                try await device.context.push()
                #expect(try scenario.row("1")?.fields == ["text": .text(text), name: 7])
            }
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent, ["Priority", "priority"])
    func `a column that is declared again has no former value that another client has replaced`(
        _ kind: StoreKind, name: String
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            func open(_ table: SyncTableDefinition) throws -> Device { try Self.open(table, in: scenario) }
            try await scenario.server.put("1", ["text": "a", name: 7], in: Todo.name)
            var device = try open(Todo.definition)
            try await device.sync()
            try await device.context.close()
            device = try open(Self.fewer)
            let theirs: ItemValue = name == "priority" ? "none" : 8
            try await scenario.server.update("1", [name: theirs], in: Todo.name)
            try await device.sync()
            try await device.context.close()
            device = try open(Todo.definition)
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", name: theirs])
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a value of a row that was inserted again does not come back when the column is declared again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device()
            try await scenario.server.put("1", ["text": "a", "priority": 5], in: Todo.name)
            try await device.sync()
            try await device.context.close()

            device = try scenario.device(tables: [Self.fewer])
            try await scenario.server.remove("1", in: Todo.name, leavingTombstone: false)
            try await device.table.update(id: "1", ["text": "b"])
            let error = try await device.expectPushError()
            #expect(error.code == .itemNotOnServer)
            try await device.context.keepAndUpdateItem(for: error, with: try #require(error.item))
            try await device.context.push()
            try await device.context.close()

            device = try scenario.device()
            try await device.sync()
            #expect(try await device.item("1")?["priority"] ?? .null == .null)
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an update does not send the value that a column had while it was local-only`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device(tables: [Self.localPriority])
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["text": "b", "priority": 5])
            try await device.context.close()

            device = try scenario.device()
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b"])
            #expect(try await device.operations().isEmpty)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `an edit of a column that the server's row lacks is sent when the column is declared again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device()
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["priority": 5])
            try await device.context.close()
            // The app is opened once without the column.
            device = try scenario.device(tables: [Self.fewer])
            try await device.context.close()

            device = try scenario.device()
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["priority"] == 5)
            try await scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a decision about a delete after an attempt of a removed column keeps the insert behind it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("1", ["text": "a"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["priority": 5])
            scenario.server.inject(.dropRequest, when: \.isWrite)
            await expectError(.pushAbortedNetwork) { try await device.context.push() }
            try await device.table.delete(id: "1")
            try await device.table.insert(["id": "1", "text": "again"])
            try await scenario.server.update("1", ["text": "theirs"], in: Todo.name)
            await expectError(.pushCompletedWithErrors) { try await device.context.push() }
            let former = try #require(try await device.context.operationErrors().first { $0.kind == .delete })
            try await device.context.close()

            device = try scenario.device(tables: [Self.fewer])
            try await device.context.changeKind(for: former, to: .delete)
            #expect(try await device.item("1")?["text"] == "again")
            try await device.context.push()
            #expect(try scenario.row("1")?.fields["text"] == "again")
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a column whose name the server spells in another case is sent once after a pull beside a change`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var device = try Self.open(Todo.definition, in: scenario)
            try await scenario.server.put("1", ["text": "a", "Priority": 7], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "1", ["text": "b"])
            try await device.context.close()
            device = try Self.open(Self.fewer, in: scenario)
            try await device.pullWithoutPush()
            try await device.context.push()
            #expect(try scenario.row("1")?.fields == ["text": "b", "Priority": 7])
            try await device.context.close()
        }
    }

    @Test(arguments: StoreKind.persistent)
    func
        `an item that was inserted again gets no value of its former row with a change of the app's database`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            var device = try Self.open(Todo.definition, in: scenario)
            try await scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await device.sync()
            try await device.table.delete(id: "1")
            try await device.table.insert(["id": "1", "text": "b"])
            try await device.context.close()
            device = try Self.open(Self.fewer, in: scenario)
            try device.changeDirectly("1") { $0["text"] = "c" }
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["1"])
            try await device.context.close()
            device = try Self.open(Todo.definition, in: scenario)
            try await device.context.push()
            #expect((try scenario.row("1")?.fields["priority"] ?? .null) == .null)
            #expect(try scenario.row("1")?.fields["text"] == "c")
            try await device.context.close()
        }
    }
}
