// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// A table that the device may write and not read: the server's row cannot show what became of a change.
@Suite struct WriteOnlyTests {
    private static let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])

    /// Everyone may write to-do items, and only administrators may read them.
    private static func permitWritesOnly(_ configuration: inout TableServer.Configuration) {
        configuration.tables = [
            .init(
                Todo.name, softDelete: false,
                permissions: .init(
                    read: .admin, insert: .anonymous, update: .anonymous, delete: .anonymous)),
            .init("Other", softDelete: false),
        ]
        configuration.authentication = TableServer.Authentication(
            secret: Data("a secret of at least 32 bytes, for tests".utf8))
    }

    private func device(_ scenario: Scenario) throws -> Device {
        var settings = SyncSettings.singleAttempt
        settings.parkAfterRefusals = 2
        return try scenario.device(settings: settings, tables: [Todo.definition, Self.other])
    }

    /// Pushes, and expects that the update of `y` is refused, and in the second push parked.
    private func expectParking(_ a: Device, _ scenario: Scenario) async throws {
        for state in [TableOperation.State.attempted, .parked] {
            let error = try await a.expectPushError()
            #expect(error.itemID == "y" && error.status == 412 && !error.isConflict)
            #expect(try await a.operations().map(\.state) == [state])
            #expect(try scenario.server.row("z", in: "Other") != nil)
        }
        scenario.server.removeRequests()
        #expect(try await a.expectPushError().itemID == "y")
        #expect(scenario.server.requests.isEmpty)
        #expect(try scenario.row("y")?.fields["text"] == "two")
    }

    @Test(arguments: StoreKind.allCases)
    func `without a token, a delete with a lost answer is completed, and an update is parked`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: Self.permitWritesOnly) { scenario in
            let a = try device(scenario)
            for id in ["x", "y"] { try await a.table.insert(["id": .text(id), "text": "one"]) }
            try await a.context.push()
            try await a.table.delete(id: "x")
            try await a.table.update(id: "y", ["text": "two"])
            try await a.context.table("Other").insert(["id": "z"])
            for method in ["DELETE", "PATCH"] {
                scenario.server.inject(.refusalAfterCommit(503), when: { $0.method == method })
                await expectError(.pushAbortedService) { try await a.context.push() }
            }
            #expect(try await a.operations().map(\.itemID) == ["y", "z"])
            #expect(try scenario.row("x") == nil)
            try await expectParking(a, scenario)
        }
    }

    @Test(arguments: StoreKind.allCases, [403, 405])
    func `with a token, an update with a lost answer is parked if the row may not be read`(
        _ kind: StoreKind, _ status: Int
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try device(scenario)
            a.context.client.authenticationToken = "token"
            try await a.table.insert(["id": "y", "text": "one"])
            try await a.context.push()
            try await a.table.update(id: "y", ["text": "two"])
            try await a.context.table("Other").insert(["id": "z"])
            scenario.server.inject(.refusalAfterCommit(503), when: \.isWrite)
            await expectError(.pushAbortedService) { try await a.context.push() }
            scenario.server.onRequest { request in
                switch request.method {
                case "GET": .refusal(status)
                case "PATCH": .refusal(412)
                default: .none
                }
            }
            try await expectParking(a, scenario)
        }
    }
}
