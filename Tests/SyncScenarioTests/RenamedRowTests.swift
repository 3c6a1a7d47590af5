// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// The app gives a row of its own table another id, which is another row for the server.
@Suite struct RenamedRowTests {
    @Test(arguments: [ConflictResolver.serverWins, .clientWins, .fieldMerge(onClash: .serverWins)])
    func `a row with another id is inserted, and its former row is deleted`(_ resolver: ConflictResolver)
        async throws
    {
        try await MigratedApp.run { app in
            let device = try app.open(settings: .resolving(resolver))
            try await app.scenario.server.put("1", ["text": "a", "priority": 1], in: Todo.name)
            try await device.sync()
            let former = try #require(try await device.item("1"))
            try await app.migrate("UPDATE TodoItem SET id = '2', text = 'b' WHERE id = '1'")
            try await device.context.enqueueExternalChanges(
                in: Todo.name, changed: ["2"], deleted: [former])
            try await device.sync()
            #expect(try app.scenario.serverTexts() == ["b"])
            #expect(try app.scenario.row("2")?.fields["priority"] == 1)
            #expect(try app.scenario.row("1")?.deleted == true)
            try await app.scenario.expectAgreement(device)
            try await device.context.close()
        }
    }

    /// Bulk changes can give several rows the same version.
    @Test func `a changed row keeps its version when another row is deleted with it`() async throws {
        try await MigratedApp.run { app in
            let device = try await app.open(withRows: ["1", "2"], ["text": "a"])
            let former = try #require(try await device.item("1"))
            try await app.migrate("DELETE FROM TodoItem WHERE id = '1'; UPDATE TodoItem SET text = 'b'")
            try await device.context.enqueueExternalChanges(
                in: Todo.name, changed: ["2"], deleted: [former])
            #expect(try await device.operations().map(\.kind) == [.update, .delete])
            try await device.sync()
            #expect(try app.scenario.serverTexts() == ["b"])
            try await device.context.close()
        }
    }
}
