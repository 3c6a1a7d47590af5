// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TableServer
import TestSupport
import Testing

/// Items and changes that the app stores directly, and enqueues afterwards.
@Suite struct EnqueueExistingTests {
    @Test(arguments: StoreKind.allCases)
    func `existing items without operations are pushed as inserts, or as updates if the server has the row`(
        _ kind: StoreKind
    )
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            try await scenario.server.put("known", ["text": "server's", "priority": 5], in: Todo.name)
            try device.store.write { transaction in
                try transaction.upsert(
                    [Item(id: "known", fields: ["text": "ours"]), Item(id: "new", fields: ["text": "new"])],
                    in: Todo.name)
            }
            #expect(try await device.context.enqueueExisting(Todo.query) == 2)
            #expect(try await device.context.enqueueExisting(Todo.query) == 0)
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["new", "ours"])
            #expect(try scenario.server.row("known", in: Todo.name)?.fields["priority"] == 5)
            #expect(try await device.operations().isEmpty)
        }
    }

    /// Nothing shows whether the item is a state of the row that a pull has stored.
    @Test func `an existing item in a table without versions does not overwrite a newer row`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let device = try scenario.device(
                "A", settings: .singleAttempt, transport: TransportWithoutVersions())
            for id in ["same", "x"] { try await scenario.server.put(id, ["text": "old"], in: Todo.name) }
            try await device.context.pull(Todo.query)
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await device.context.enqueueExisting(Todo.query)
            let errors = await device.expectPushErrors()
            #expect(errors.map(\.itemID) == ["x"])
            #expect(errors.map(\.code) == [.itemAlreadyOnServer])
            #expect(try await device.operations().map(\.itemID) == ["x"])
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    /// The server can have the row, and a push of each change would have deleted it there.
    @Test(arguments: [true, false])
    func `a deletion of an enqueued item deletes the server's row`(_ isOnServer: Bool) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let device = try scenario.device("A")
            if isOnServer { try await scenario.server.put("x", ["text": "same"], in: Todo.name) }
            try device.store.write { transaction in
                try transaction.upsert([Item(id: "x", fields: ["text": "same"])], in: Todo.name)
            }
            try await device.context.enqueueExisting(Todo.query)
            try await device.table.delete(id: "x")
            try await device.sync()
            #expect(try scenario.serverTexts().isEmpty)
            #expect(try await device.texts().isEmpty)
            #expect(try await device.operations().isEmpty)
        }
    }

    /// An app's own table can have a column `createdAt` that the app fills.
    @Test(arguments: StoreKind.allCases)
    func `items with times of the app and without a version are inserts`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            let ofApp = SystemProperties(createdAt: .unixEpoch, updatedAt: .unixEpoch)
            func add(_ id: String) throws {
                try device.store.write { transaction in
                    try transaction.upsert(
                        [Item(id: id, fields: ["text": .text(id)], system: ofApp)], in: Todo.name)
                }
            }
            try add("existing")
            #expect(try await device.context.enqueueExisting(Todo.query) == 1)
            try add("added")
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["added"])
            #expect(try await device.operations().map(\.kind) == [.insert, .insert])
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["added", "existing"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `changes made directly in the store are enqueued and pushed`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            let changed = try await device.table.insert(["text": "changed"])
            let deleted = try await device.table.insert(["text": "deleted"])
            try await device.sync()
            let removed = try #require(try await device.table.item(id: deleted.id))
            try device.store.write { transaction in
                var item = try #require(try transaction.item(id: changed.id, in: Todo.name))
                item["text"] = "changed directly"
                try transaction.upsert([item, Item(id: "added", fields: ["text": "added"])], in: Todo.name)
                try transaction.deleteItems(ids: [deleted.id], in: Todo.name)
            }
            try await device.context.enqueueExternalChanges(
                in: Todo.name, changed: [changed.id, "added"], deleted: [removed])
            #expect(try await device.operations().map(\.kind) == [.update, .insert, .delete])
            try await device.context.push()
            #expect(try scenario.serverTexts() == ["added", "changed directly"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a change of an item that was deleted and inserted again is sent with the version that the server has`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            func changeItself(_ text: String) async throws {
                let item = try #require(try await a.item("x"))
                try a.store.write { transaction in
                    var changed = item
                    changed.fields["text"] = .text(text)
                    try transaction.upsert([changed], in: Todo.name)
                }
                try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            }
            try await changeItself("two")
            try await a.context.batch { batch in
                try batch.delete(id: "x", in: Todo.name)
                try batch.insert(["id": "x", "text": "three"], in: Todo.name)
            }
            try await changeItself("four")
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(try scenario.row("x")?.fields["text"] == "theirs")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a change made directly in the store is sent although the user has edited the item since`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try a.changeDirectly("x") { $0["text"] = "two" }
            try await a.table.update(id: "x", ["priority": 2])
            try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["two"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases, [ServerFault.none, .refusal(400)])
    func `a change made directly in the store is sent although an edit made since is being pushed`(
        _ kind: StoreKind, _ fault: ServerFault
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try a.changeDirectly("x") { $0["text"] = "two" }
            try await a.table.update(id: "x", ["priority": 2])
            _ = try await scenario.push(a, then: fault) { _ in
                try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            }
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "two")
            #expect(try scenario.row("x")?.fields["priority"] == 2)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the row of a discarded change whose earlier state is unknown is pulled again`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let device = try scenario.device("A")
            // The delta token is past the row.
            for id in ["x", "y"] {
                try await scenario.server.put(id, ["text": "server's"], in: Todo.name)
                scenario.server.clock.advance(by: .seconds(60))
            }
            try await device.sync()
            try device.changeDirectly("x") { $0["text"] = "changed directly" }
            try await device.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            scenario.server.inject(.refusal(400), when: \.isWrite)
            try await device.context.cancelAndDiscardItem(for: try await device.expectPushError())
            try await device.sync()
            #expect(try await device.texts() == ["server's", "server's"])
        }
    }

    @Test(arguments: StoreKind.allCases, [ServerFault?.none, .some(.none), .dropRequest])
    func `an item that the app inserts again in its store replaces the deleted row`(
        _ kind: StoreKind, _ fault: ServerFault?
    ) async throws {
        try await Scenario.run(on: kind) {
            $0.tables = [.init(Todo.name, softDelete: false)]
        } _: { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            let insertAgain = {
                try a.store.write { transaction in
                    try transaction.upsert([Item(id: "x", fields: ["text": "again"])], in: Todo.name)
                }
                try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            }
            if let fault {
                // The delete is being sent, and then applied, or lost.
                _ = try await scenario.push(a, then: fault) { _ in try await insertAgain() }
            } else {
                try await insertAgain()
            }
            try await a.context.push()
            #expect(try await a.item("x")?["text"] == "again")
            #expect(try scenario.row("x")?.fields["text"] == "again")
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an item that the app inserts again while its delete is sent stays until it is queued`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) {
            $0.tables = [.init(Todo.name, softDelete: false)]
        } _: { scenario in
            let a = try scenario.device()
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            _ = try await scenario.push(a) { _ in
                try a.store.write { transaction in
                    try transaction.upsert([Item(id: "x", fields: ["text": "again"])], in: Todo.name)
                }
            }
            #expect(try await a.item("x")?["text"] == "again")
            try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            try await a.context.push()
            #expect(try scenario.row("x")?.fields["text"] == "again")
            try await scenario.expectAgreement(a)
        }
    }

    /// Adds an item that the server does not know, and enqueues it.
    private func enqueue(_ id: String, on device: Device) async throws {
        try device.store.write { transaction in
            try transaction.upsert([Item(id: id, fields: ["text": "ours"])], in: Todo.name)
        }
        #expect(try await device.context.enqueueExisting(Todo.query) == 1)
    }

    @Test(arguments: [ConflictResolver.serverWins, .fieldMerge(onClash: .serverWins)])
    func `a resolver does not remove an enqueued item whose insert the server refuses as a conflict`(
        _ resolver: ConflictResolver
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(resolver))
            try await enqueue("x", on: a)
            scenario.server.onRequest { $0.isWrite ? .refusal(409, "the address is in use") : .none }
            #expect(try await a.expectPushError().message.contains("the address is in use"))
            #expect(try await a.item("x")?["text"] == "ours")
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["ours"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a corrected item that was enqueued still replaces the server's row`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await enqueue("x", on: a)
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await a.expectPushError()
            try await a.context.keepAndUpdateItem(
                for: error, with: Item(id: "x", fields: ["text": "corrected"]))
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["corrected"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull of the row as it was is no conflict of a change made directly in the store`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await a.sync()
            try a.changeDirectly("x") { item in
                item["text"] = "ours"
                item["priority"] = nil
            }
            try await a.context.enqueueExternalChanges(in: Todo.name, changed: ["x"])
            try await a.context.pull(Todo.query, settings: .withoutPush)
            #expect(try await a.item("x")?["text"] == "ours")
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["ours"])
            #expect(try scenario.row("x")?.fields["priority"] ?? .null == .null)
            try await scenario.expectAgreement(a)
        }
    }
}
