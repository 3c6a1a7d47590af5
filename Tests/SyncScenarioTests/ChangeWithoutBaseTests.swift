// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// Changes that the app has made in its own database, and queued later: their operations have no base.
@Suite
struct ChangeWithoutBaseTests {
    private static let changes = [TableOperation.Kind.update, .delete]

    /// Changes the row in the store, and queues the change.
    private func change(_ id: String, _ kind: TableOperation.Kind, on device: Device) async throws {
        guard kind == .delete else {
            try device.changeDirectly(id) { $0["text"] = "ours" }
            return try await device.context.enqueueExternalChanges(in: Todo.name, changed: [id])
        }
        let item = try #require(try await device.item(id))
        try device.store.write { try $0.deleteItems(ids: [id], in: Todo.name) }
        try await device.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
    }

    @Test(arguments: StoreKind.allCases, changes)
    func `a row that was inserted again with the first version is not overwritten`(
        _ kind: StoreKind, _ change: TableOperation.Kind
    ) async throws {
        func restartVersions(_ configuration: inout TableServer.Configuration) {
            configuration.tables = [.init(Todo.name, softDelete: false)]
            configuration.restartsVersions = true
        }
        try await Scenario.run(on: kind, configure: restartVersions) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await self.change("x", change, on: a)
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            scenario.server.clock.advance(by: .seconds(5))
            try await scenario.server.put("x", ["text": "new"], in: Todo.name)
            try await a.pullWithoutPush()
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == "new")
            #expect(try scenario.row("x")?.fields["text"] == "new")
        }
    }

    @Test(arguments: [404, 409, 412], changes)
    func `a refusal that shows the unchanged row is no conflict`(
        _ status: Int, _ change: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await self.change("x", change, on: a)
            scenario.server.onRequest { $0.isWrite ? .refusal(status, "not unique") : .none }
            let error = try await a.expectPushError()
            #expect(!error.isConflict && error.message == "not unique")
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.serverTexts() == (change == .delete ? [] : ["ours"]))
        }
    }

    @Test(arguments: StoreKind.allCases, changes)
    func `a pull of the row as it was is no conflict`(
        _ kind: StoreKind, _ change: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await self.change("x", change, on: a)
            try await a.context.pull(Todo.query, settings: .withoutPush)
            #expect(try await a.operations().count == 1)
            try await a.context.push()
            #expect(try scenario.serverTexts() == (change == .delete ? [] : ["ours"]))
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that the server never had is inserted after it was deleted and inserted again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            let item = try await a.table.insert(["id": "x", "text": "one"])
            try a.store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
            // There is no item to insert.
            try await #expect(a.expectPushError().code == .expectedItem)
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            try await a.table.insert(["id": "x", "text": "two"])
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["two"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull of the row as it was is no conflict of an item that was deleted and inserted again`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await self.change("x", .delete, on: a)
            try await a.table.insert(["id": "x", "text": "ours"])
            try await a.context.pull(Todo.query, settings: .withoutPush)
            #expect(try await a.texts() == ["ours"])
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["ours"])
            try await scenario.expectAgreement(a)
        }
    }

    /// The item shows another client's row, but the user has changed the same field before that row was received.
    @Test(arguments: StoreKind.allCases)
    func `a change behind an edit that clashes does not overwrite another client's edit`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            _ = try await scenario.clashAfterLostResponse(a, sending: "sent")
            _ = try await scenario.push(a) { _ in try await self.change("x", .update, on: a) }
            #expect(try await a.operations().count == 1)
            let again = try await a.expectPushError()
            #expect(again.isConflict)
            #expect(again.serverItem?["priority"] == 2)
            #expect(try scenario.row("x")?.fields["priority"] == 2)
        }
    }

    /// Another client's later row proves the insert. The item has its version, and an edit that clashes with it.
    @Test(arguments: StoreKind.allCases)
    func `a change does not take the version of a row that clashes with an edit behind an insert`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            await a.pushLosingResponse(of: scenario.server)
            try await a.table.update(id: "x", ["priority": 1])
            try await scenario.server.update("x", ["priority": 2], in: Todo.name)
            try await #expect(a.expectPushError().isConflict)
            try await self.change("x", .update, on: a)
            let again = try await a.expectPushError()
            #expect(again.isConflict)
            #expect(again.serverItem?["priority"] == 2)
            #expect(try scenario.row("x")?.fields == ["text": "one", "priority": 2])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change behind an update whose response was lost is no conflict with it`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "sent"])
            let result = try await scenario.push(a, then: .dropAnswer) { _ in
                try a.changeDirectly("x") { $0["priority"] = 2 }
                try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            }
            #expect(throws: Never.self) { try result.get() }
            #expect(try scenario.row("x")?.fields == ["text": "sent", "priority": 2])
            try await scenario.expectAgreement(a)
        }
    }

    /// The item had the value before the attempt: its base has the app's change, the server's row does not.
    @Test(arguments: StoreKind.allCases)
    func `a change that the app made before an edit and queued during its push is sent`(
        _ kind: StoreKind
    ) async throws {
        for fault in [ServerFault.none, .dropAnswer] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: .singleAttempt)
                try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
                try await a.sync()
                try a.changeDirectly("x") { $0["priority"] = 2 }
                try await a.table.update(id: "x", ["text": "sent"])
                _ = try await scenario.push(a, then: fault) { _ in
                    try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
                }
                for error in await a.pushErrors() {
                    // Another client may have changed the column after the attempt.
                    #expect(error.isConflict && error.serverItem?["priority"] == 1)
                    try await a.context.keepAndUpdateItem(for: error, with: try #require(error.item))
                }
                try await a.context.push()
                #expect(try scenario.row("x")?.fields["priority"] == 2)
                #expect(try scenario.row("x")?.fields["text"] == "sent")
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull of the row that the device has inserted is no conflict of its deletion`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            let item = try await a.table.insert(["id": "x", "text": "ours"])
            _ = try await scenario.push(a) { _ in
                _ = try a.store.write { try $0.deleteItems(ids: ["x"], in: Todo.name) }
            }.get()
            // It has no version, because the push was running.
            try await a.context.enqueueExternalChanges(in: Todo.name, deleted: [item])
            try await a.context.pull(Todo.query, settings: .withoutPush)
            try await a.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, changes)
    func `an item that is inserted again keeps the columns that the app does not declare`(
        _ kind: StoreKind, _ change: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.wholeRowDevice()
            try await scenario.server.put("x", ["text": "one", "color": "red"], in: Todo.name)
            try await a.context.pull(Todo.query)
            if change == .delete {
                try await self.change("x", .delete, on: a)
                try await a.table.insert(["id": "x", "text": "ours"])
            } else {
                try await a.context.batch { local in
                    try local.delete(id: "x", in: Todo.name)
                    try local.insert(["id": "x", "text": "two"], in: Todo.name)
                }
                try await self.change("x", .update, on: a)
            }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "ours")
            #expect(try scenario.row("x")?.fields["color"] == "red")
        }
    }
}
