// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer
import Testing

/// The server's values that a column cannot hold, and columns that it has had for longer than the device, are not overwritten by
/// changes of other columns.
@Suite struct UnreadableValueTests {
    @Test func `a value that its column cannot hold clashes with a change of the same column`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let device = try scenario.device(settings: .resolving(.fieldMerge(onClash: .serverWins)))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "x", ["text": "two", "priority": 1])
            try await scenario.server.update("x", ["priority": "high"], in: Todo.name)
            try await device.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "two", "priority": "high"])
        }
    }

    private func wholeRowDevice(_ scenario: Scenario, _ settings: SyncSettings) throws -> Device {
        let store = try scenario.kind.open(in: scenario.directory, name: "A", tables: [Todo.definition])
        return scenario.device(on: store, settings: settings, dialect: .v3)
    }

    @Test func `an update that replaces the row keeps a value that came with the proof of the last one`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let device = try wholeRowDevice(scenario, .singleAttempt)
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "x", ["text": "two"])
            await device.pushLosingResponse(of: scenario.server)
            try await scenario.server.update("x", ["priority": "high"], in: Todo.name)
            try await device.context.push()
            try await device.table.update(id: "x", ["text": "three"])
            try await device.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "three", "priority": "high"])
            try await device.table.update(id: "x", ["priority": 2])
            try await device.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == 2)
        }
    }

    @Test func `a row that only a list shows keeps a value that its column cannot hold`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let device = try wholeRowDevice(scenario, .resolving(.fieldMerge(onClash: .clientWins)))
            try await scenario.server.put("x", ["text": "one", "priority": 1], in: Todo.name)
            try await device.sync()
            try await device.table.update(id: "x", ["text": "two"])
            try await scenario.server.update("x", ["priority": "high"], in: Todo.name)
            // The conflict shows no row, and a gateway has no route to single rows.
            scenario.server.onRequest { $0.method == "GET" && $0.itemID != nil ? .refusal(404) : .none }
            scenario.server.inject(.refusal(412), when: \.isWrite)
            try await device.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "two", "priority": "high"])
        }
    }

    /// Pulls a row of a server that does not show the priority yet.
    private func pullWithoutPriority(_ device: Device, _ scenario: Scenario) async throws {
        try await scenario.server.put("x", ["text": "one", "priority": 5], in: Todo.name)
        scenario.server.onRequest { $0.isPage ? .editFields { $0["priority"] = nil } : .none }
        try await device.sync()
        scenario.server.onRequest(nil)
    }

    @Test func `a deletion that becomes an update keeps a column that the server has added`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let device = try scenario.device()
            try await pullWithoutPriority(device, scenario)
            try await device.table.delete(id: "x")
            try await device.context.pull(Todo.query, settings: .withoutPush)
            scenario.server.inject(.refusal(400), when: \.isWrite)
            let error = try await device.expectPushError()
            try await device.context.changeKind(for: error, to: .update)
            try await device.context.push()
            #expect(try scenario.row("x")?.fields == ["text": "one", "priority": 5])
        }
    }

    @Test(arguments: [TableOperation.Kind.update, .delete])
    func `a change that wins a conflict keeps a column that the device never had`(
        _ kind: TableOperation.Kind
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let device = try scenario.device()
            try await pullWithoutPriority(device, scenario)
            if kind == .delete {
                try await device.table.delete(id: "x")
            } else {
                try await device.table.update(id: "x", ["text": "two"])
            }
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let error = try await device.expectPushError()
            try await device.context.changeKind(for: error, to: .update)
            try await device.context.push()
            #expect(try scenario.row("x")?.fields["priority"] == 5)
            #expect(try scenario.row("x")?.fields["text"] == (kind == .delete ? "one" : "two"))
        }
    }
}
