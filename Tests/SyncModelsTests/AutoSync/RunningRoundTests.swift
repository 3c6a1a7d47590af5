// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import Testing

@testable import SyncModels
@testable import SyncSimulation

/// What the state shows of a round before its end.
@Suite struct RunningRoundTests {
    private static var settings: SyncSettings {
        var settings = SyncSettings()
        settings.retry.maxAttempts = 1
        return settings
    }

    /// Runs a push, and expects that the state shows it while the pull after it is running.
    private func expectShownPush(
        of device: VirtualDevice, after signal: AutoSync.Signal, error: SyncError.Code? = nil
    ) async {
        device.network.condition = .slowPulls
        device.sync.signal(signal)
        await device.system.advance(.seconds(5))
        let state = device.sync.state
        #expect(state.phase == .pulling(table: "TodoItem", rows: 0, of: nil))
        #expect(state.pending == 0)
        #expect(state.lastPush != nil)
        #expect(state.lastError?.code == error)
    }

    @Test func `a push ends the error of the outage before it, while the pull after it is running`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull()], settings: Self.settings)
            device.network.condition = .down
            try await device.insert("milk")
            device.run()
            await system.advance(.milliseconds(500))
            #expect(device.sync.state.lastError != nil)
            #expect(device.sync.state.lastPush == nil)
            await expectShownPush(of: device, after: .networkAvailable)
        }
    }

    /// - Parameter outage: as long as one round that fails, or as several.
    @Test(arguments: [Duration.milliseconds(500), .seconds(10)])
    func `a push that the server answers ends the error of an outage that a pull has found`(
        _ outage: Duration
    ) async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull()], settings: Self.settings)
            device.run()
            await system.advance(.seconds(10))
            device.network.condition = .down
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await system.advance(outage)
            #expect(device.sync.state.lastError?.code == .pullAborted)
            try await device.insert("milk")
            await expectShownPush(of: device, after: .networkAvailable)
        }
    }

    @Test func `a push without a request does not end the error of an outage`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull()], settings: Self.settings)
            device.network.condition = .down
            device.run()
            await system.advance(.milliseconds(500))
            #expect(device.sync.state.lastError?.code == .pullAborted)
            await expectShownPush(of: device, after: .networkAvailable, error: .pullAborted)
            await system.advance(.seconds(60))
            #expect(device.sync.state.lastError == nil)
        }
    }

    /// A sync of a table that the server does not have, and of one that it has.
    private func deviceWithMissingTable(_ system: VirtualSystem) throws -> VirtualDevice {
        let tables = try VirtualSystem.tables() + [SyncTableDefinition("Unknown", columns: [])]
        return try system.device(
            pulls: [PullPlan(TableQuery("Unknown")), Todo.all.pull(every: .seconds(600))],
            store: try MemoryStore(tables: tables))
    }

    @Test func `a push does not end the error of a table that the server does not have`() async throws {
        try await VirtualSystem.run { system in
            let device = try deviceWithMissingTable(system)
            device.run()
            await system.advance(.seconds(10))
            try await device.insert("milk")
            let hint = AutoSync.Signal.serverHint(tables: ["TodoItem"])
            await expectShownPush(of: device, after: hint, error: .pullAborted)
        }
    }

    @Test func `the last pull is that of any plan, although another one fails`() async throws {
        try await VirtualSystem.run { system in
            let device = try deviceWithMissingTable(system)
            device.run()
            await system.advance(.seconds(3000))
            let lastPull = try #require(device.sync.state.lastPull)
            #expect(lastPull.seconds >= 1_700_002_400)
            #expect(device.sync.state.lastError?.code == .pullAborted)
        }
    }

    @Test func `the last pull is shown while the next one is running`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.network.condition = .slowPulls
            device.run()
            await system.advance(.seconds(70))
            #expect(device.sync.state.phase == .pulling(table: "TodoItem", rows: 0, of: nil))
            #expect(device.sync.state.lastPull != nil)
        }
    }
}
