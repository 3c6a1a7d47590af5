// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Resolvers decide conflicts found by pushes and pulls.
@Suite struct ResolverTests {
    /// Runs the body with an item that the device and the server have both changed since the last sync.
    private func withClash(
        on kind: StoreKind, resolver: ConflictResolver?, client: [String: ItemValue]?,
        server: [String: ItemValue]?, _ body: (Scenario, Device, String) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.resolver = resolver
            let device = try scenario.device("A", settings: settings)
            let item = try await device.table.insert(["text": "base", "priority": 1, "complete": false])
            try await device.sync()
            if let server {
                try await scenario.server.update(item.id, server, in: Todo.name)
            } else {
                try await scenario.server.remove(item.id, in: Todo.name)
            }
            if let client {
                try await device.table.update(id: item.id, client)
            } else {
                try await device.table.delete(id: item.id)
            }
            try await body(scenario, device, item.id)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `serverWins stores the server's row, in a push and in a pull`(_ kind: StoreKind, _ inPull: Bool)
        async throws
    {
        try await withClash(
            on: kind, resolver: .serverWins, client: ["text": "client"], server: ["text": "server"]
        ) {
            scenario, device, id in
            if inPull { try await device.pullWithoutPush() } else { try await device.context.push() }
            #expect(try await device.table.item(id: id)?["text"] == "server")
            try await scenario.expectAgreement(device)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `clientWins sends the client's item, in a push and in a pull`(_ kind: StoreKind, _ inPull: Bool)
        async throws
    {
        try await withClash(
            on: kind, resolver: .clientWins, client: ["text": "client"], server: ["text": "server"]
        ) {
            scenario, device, id in
            if inPull { try await device.pullWithoutPush() }
            try await device.context.push()
            #expect(try scenario.server.row(id, in: Todo.name)?.fields["text"] == "client")
            try await scenario.expectAgreement(device)
        }
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `fieldMerge merges changes of different fields`(_ kind: StoreKind, _ inPull: Bool) async throws {
        try await withClash(
            on: kind, resolver: .fieldMerge(onClash: .keepPending), client: ["text": "client"],
            server: ["priority": 9]
        ) { scenario, device, id in
            if inPull { try await device.pullWithoutPush() }
            try await device.context.push()
            let row = try scenario.server.row(id, in: Todo.name)
            #expect(row?.fields["text"] == "client")
            #expect(row?.fields["priority"] == 9)
            try await scenario.expectAgreement(device)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `fieldMerge resolves a clash of one field and merges the others`(_ kind: StoreKind) async throws {
        try await withClash(
            on: kind, resolver: .fieldMerge(onClash: .serverWins),
            client: ["text": "client", "complete": true], server: ["text": "server", "priority": 9]
        ) { scenario, device, id in
            try await device.context.push()
            let row = try scenario.server.row(id, in: Todo.name)
            #expect(row?.fields["text"] == "server")
            #expect(row?.fields["priority"] == 9)
            #expect(row?.fields["complete"] == true)
            try await scenario.expectAgreement(device)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `updateWins undeletes a row with the client's edit`(_ kind: StoreKind) async throws {
        try await withClash(
            on: kind, resolver: .updateWins(otherwise: .serverWins), client: ["text": "client"], server: nil
        ) { scenario, device, id in
            try await device.context.push()
            #expect(try scenario.server.row(id, in: Todo.name)?.deleted == false)
            #expect(try scenario.server.row(id, in: Todo.name)?.fields["text"] == "client")
            try await scenario.expectAgreement(device)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `deleteWins prefers a delete to an edit on either side`(_ kind: StoreKind) async throws {
        let resolver = ConflictResolver.deleteWins(otherwise: .serverWins)
        try await withClash(on: kind, resolver: resolver, client: ["text": "client"], server: nil) {
            scenario, device, id in
            try await device.context.push()
            #expect(try await device.table.item(id: id) == nil)
            try await scenario.expectAgreement(device)
        }
        try await withClash(on: kind, resolver: resolver, client: nil, server: ["text": "server"]) {
            scenario, device, id in
            try await device.context.push()
            #expect(try scenario.server.row(id, in: Todo.name)?.deleted == true)
            try await scenario.expectAgreement(device)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `updateWins prefers the server's edit to the client's delete`(_ kind: StoreKind) async throws {
        try await withClash(
            on: kind, resolver: .updateWins(otherwise: .clientWins), client: nil, server: ["text": "server"]
        ) { scenario, device, id in
            try await device.context.push()
            #expect(try await device.table.item(id: id)?["text"] == "server")
            try await scenario.expectAgreement(device)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a resolver is called again when the server's row has changed`(_ kind: StoreKind) async throws {
        let server = Mutex<TableServer?>(nil)
        let texts = Mutex<[String]>([])
        let resolver = ConflictResolver { conflict in
            let count = texts.withLock { texts in
                texts.append(conflict.serverItem?["text"]?.textValue ?? "none")
                return texts.count
            }
            if count < 3 {
                let id = conflict.operation.itemID
                try await server.withLock { $0 }?.update(
                    id, ["text": .text("server \(count)")], in: Todo.name)
            }
            return .keepClient
        }
        try await withClash(
            on: kind, resolver: resolver, client: ["text": "client"], server: ["text": "server 0"]
        ) {
            scenario, device, id in
            server.withLock { $0 = scenario.server }
            try await device.context.push()
            #expect(texts.withLock { $0 } == ["server 0", "server 1", "server 2"])
            #expect(try scenario.server.row(id, in: Todo.name)?.fields["text"] == "client")
            try await scenario.expectAgreement(device)
            server.withLock { $0 = nil }
        }
    }

    @Test(arguments: StoreKind.allCases, [0, 1, 3])
    func `a resolver is called at most as often as the settings say, and the conflict then waits`(
        _ kind: StoreKind, _ limit: Int
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let count = Mutex(0)
            let server = scenario.server
            var settings = SyncSettings()
            settings.maxResolutions = limit
            settings.resolver = ConflictResolver { conflict in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                // Each decision is outdated when it is sent.
                try await server.update("x", ["text": .text("theirs \(number)")], in: Todo.name)
                return .keepClient
            }
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "base"])
            try await a.sync()
            try await server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "ours"])
            let error = try await a.expectPushError()
            #expect(error.isConflict)
            #expect(error.serverItem?["text"] == .text(limit == 0 ? "theirs" : "theirs \(limit)"))
            #expect(count.withLock(\.self) == limit)
            #expect(try await a.item("x")?["text"] == "ours")
            #expect(try await a.context.status().conflictingOperations == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a resolver is called again when the item was edited during its call`(_ kind: StoreKind)
        async throws
    {
        let device = Mutex<Device?>(nil)
        let seen = Mutex<[ItemValue?]>([])
        let resolver = ConflictResolver { conflict in
            let isFirst = seen.withLock { seen in
                seen.append(conflict.clientItem?["text"])
                return seen.count == 1
            }
            let table = device.withLock { $0?.table }
            if isFirst { try await table?.update(id: conflict.operation.itemID, ["text": "newest"]) }
            return isFirst ? .keepServer : .keepClient
        }
        try await withClash(
            on: kind, resolver: resolver, client: ["text": "client"], server: ["text": "server"]
        ) {
            scenario, editedDevice, id in
            device.withLock { $0 = editedDevice }
            try await editedDevice.context.push()
            #expect(seen.withLock { $0 } == ["client", "newest"])
            #expect(try scenario.server.row(id, in: Todo.name)?.fields["text"] == "newest")
            try await scenario.expectAgreement(editedDevice)
            device.withLock { $0 = nil }
        }
    }

    /// A resolver may use another context, whose errors say nothing about this one.
    @Test(arguments: StoreKind.allCases, [SyncError.Code.invalidOperation, .storeFailure, .contextInvalid])
    func `an error thrown by a resolver is recorded on the operation`(
        _ kind: StoreKind, _ code: SyncError.Code
    ) async throws {
        let resolver = ConflictResolver { _ in throw SyncError(code, "The resolver failed.") }
        try await withClash(
            on: kind, resolver: resolver, client: ["text": "client"], server: ["text": "server"]
        ) {
            (_, device: Device, id: String) async throws in
            await expectError(.pushCompletedWithErrors) { try await device.context.push() }
            #expect(try await device.context.operationErrors().map(\.message) == ["The resolver failed."])
            #expect(try await device.table.item(id: id)?["text"] == "client")
            #expect(try await device.operations().count == 1)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit made while a resolver leaves the conflict pending belongs to the operation in conflict`(
        _ kind: StoreKind
    ) async throws {
        let device = Mutex<Device?>(nil)
        let resolver = ConflictResolver { conflict in
            let table = device.withLock { $0?.table }
            try await table?.update(id: conflict.operation.itemID, ["text": "newest"])
            return .keepPending
        }
        try await withClash(
            on: kind, resolver: resolver, client: ["text": "client"], server: ["text": "server"]
        ) {
            scenario, editedDevice, id in
            device.withLock { $0 = editedDevice }
            let error = try await editedDevice.expectPushError()
            device.withLock { $0 = nil }
            #expect(try await editedDevice.operations().count == 1)
            #expect(error.item?["text"] == "newest")
            try await editedDevice.context.cancelAndDiscardItem(for: error)
            #expect(try await editedDevice.item(id)?["text"] == "server")
            try await editedDevice.context.push()
            #expect(try scenario.server.row(id, in: Todo.name)?.fields["text"] == "server")
        }
    }
}
