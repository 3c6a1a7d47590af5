// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels
import Synchronization
import Testing

@testable import SyncSimulation

/// Operations that wait for others, which are completed outside the push of a round.
@Suite struct AutoSyncHeldTests {
    /// Starts a device with a list that the server has too, and an item that waits for its insert.
    private func heldDevice(
        _ system: VirtualSystem, pulls: [PullPlan] = [],
        deciding decide: @escaping @Sendable () -> ModelDecision<TodoList>
    ) async throws -> VirtualDevice {
        var settings = SyncSettings()
        settings.resolve(TodoList.self) { _ in decide() }
        let device = try system.device(pulls: pulls, settings: settings)
        system.server.write("list", ["name": .text("theirs")], in: "TodoList", isLate: false)
        try await system.perform {
            try await device.context.batch { batch in
                try batch.insert(TodoList(id: "list", name: "mine"))
                try batch.insert(Todo(id: "milk", list: "list"))
            }
        }
        device.run()
        await system.advance(.seconds(10))
        return device
    }

    @Test func `an item is sent after a push of the app has completed the insert that it waits for`()
        async throws
    {
        try await VirtualSystem.run { system in
            let mayDecide = Mutex(false)
            let device = try await heldDevice(system) {
                mayDecide.withLock { $0 } ? .keepMine : .keepPending
            }
            #expect(device.sync.state.conflicts == 1)
            #expect(try await device.pending() == 2)
            mayDecide.withLock { $0 = true }
            try await system.perform { try await device.context.push(tables: ["TodoList"]) }
            #expect(try await device.pending() == 1)
            await system.advance(.seconds(10))
            #expect(try await device.pending() == 0)
            #expect(system.server.rows(of: "TodoItem").count == 1)
        }
    }

    @Test func `an item that no longer waits does not wait for a refused operation`() async throws {
        try await VirtualSystem.run { system in
            let mayDecide = Mutex(false)
            let device = try await heldDevice(system) {
                mayDecide.withLock { $0 } ? .keepMine : .keepPending
            }
            system.server.refuse("poison", in: "TodoItem", status: 400)
            try await system.perform { try await device.context.batch { try $0.insert(Todo(id: "poison")) } }
            await system.advance(.seconds(1000))
            #expect(try await device.pending() == 3)
            mayDecide.withLock { $0 = true }
            try await system.perform { try await device.context.push(tables: ["TodoList"]) }
            await system.advance(.seconds(10))
            #expect(system.server.rows(of: "TodoItem").count == 1)
        }
    }

    @Test func `an item is sent after the pull of a round has decided about the insert that it waits for`()
        async throws
    {
        try await VirtualSystem.run { system in
            let calls = Mutex(0)
            let device = try await heldDevice(system, pulls: [TodoList.all.pull()]) {
                let call = calls.withLock { calls -> Int in
                    calls += 1
                    return calls
                }
                // The push calls first.
                return call == 1 ? .keepPending : .keepTheirs
            }
            #expect(try await device.pending() == 0)
            #expect(system.server.rows(of: "TodoItem").count == 1)
        }
    }
}
