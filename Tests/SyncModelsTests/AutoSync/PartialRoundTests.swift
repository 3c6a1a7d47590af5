// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncModels
@testable import SyncSimulation

/// Rounds that end before their end: what the server has answered until then counts.
@Suite struct PartialRoundTests {
    /// A plan to pull to-dos row by row.
    private var rowByRow: PullPlan {
        var plan = Todo.all.pull()
        plan.settings.pageSize = 1
        return plan
    }

    private func writeRows(_ system: VirtualSystem) {
        for id in ["a", "b", "c"] {
            system.server.write(id, ["text": .text(id)], in: "TodoItem", isLate: false)
        }
    }

    private func waitForSignIn(_ device: VirtualDevice) async {
        device.network.condition = .status(401)
        device.run()
        await device.system.advance(.seconds(10))
        #expect(device.sync.state.phase == .needsSignIn)
    }

    @Test(arguments: [VirtualNetwork.Condition.down, .status(500)])
    func `a page ends the wait for the sign-in, although the next one has no response`(
        _ condition: VirtualNetwork.Condition
    ) async throws {
        try await VirtualSystem.run { system in
            writeRows(system)
            let device = try system.device(pulls: [rowByRow])
            await waitForSignIn(device)
            device.network.condition = .up
            let call = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(10))
            device.network.condition = condition
            await #expect(throws: SyncError.self) { try await system.value(of: call) }
            device.network.condition = .up
            await system.advance(.seconds(60))
            #expect(device.sync.state.phase == .idle(next: nil))
            #expect(device.sync.state.lastError == nil)
        }
    }

    @Test func `a plan that was pulled before the caller has given up is not pulled again`() async throws {
        try await VirtualSystem.run { system in
            writeRows(system)
            let device = try system.device(pulls: [rowByRow, TodoList.all.pull()])
            await waitForSignIn(device)
            device.network.condition = .up
            _ = device.network.newRequests()
            let call = system.start { try await device.sync.syncNow() }
            // The list is pulled first, by one request.
            await system.advance(.milliseconds(70))
            call.cancel()
            await #expect(throws: CancellationError.self) { try await system.value(of: call) }
            await system.advance(.seconds(60))
            #expect(device.sync.state.phase == .idle(next: nil))
            #expect(device.network.newRequests().count { $0 == "GET TodoList" } == 1)
        }
    }

    @Test func `a push that its caller has given up ends an outage`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            for number in 0..<100 { try await device.insert("\(number)") }
            device.sync.signal(.networkUnavailable)
            let call = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(50))
            call.cancel()
            await #expect(throws: CancellationError.self) { try await system.value(of: call) }
            device.network.condition = .down
            device.run()
            await system.advance(.milliseconds(1))
            #expect(device.sync.state.phase != .offline)
        }
    }

    @Test func `rounds that store pages before they fail do not wait longer and longer`() async throws {
        try await VirtualSystem.run { system in
            for number in 100..<130 {
                system.server.write("\(number)", ["text": .text("a")], in: "TodoItem", isLate: false)
                await system.advance(.seconds(2))
            }
            var settings = SyncSettings()
            settings.retry.maxAttempts = 1
            let device = try system.device(pulls: [rowByRow], settings: settings)
            device.network.condition = .everyThirdLost
            device.run()
            // Each round stores two pages at most, and the next one begins two seconds after it at the latest.
            await system.advance(.seconds(60))
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `finish ends the push of a round when its caller is cancelled`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            try await device.insert("milk")
            device.network.condition = .slowPushes
            let sync = system.start { try await device.sync.syncNow() }
            await system.advance(.seconds(1))
            let finish = system.start { await device.sync.finish(within: .seconds(30)) }
            await system.advance(.seconds(1))
            finish.cancel()
            let start = system.time
            let error = await #expect(throws: SyncError.self) { try await system.value(of: sync) }
            #expect(error?.code == .pushAbortedCancelled)
            #expect(system.time - start < .seconds(1))
            _ = try await system.value(of: finish)
        }
    }
}
