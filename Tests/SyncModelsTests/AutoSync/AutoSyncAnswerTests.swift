// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import Synchronization
import Testing

@testable import SyncModels
@testable import SyncSimulation

/// What the state shows while and after the server answers.
@Suite struct AutoSyncAnswerTests {
    @Test func `a sign-in while the server refuses the old token is followed by a round`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.seconds(10))
            device.network.condition = .status(401)
            try await device.insert("milk")
            // The request takes 20 ms.
            await system.advance(.milliseconds(1010))
            device.network.condition = .up
            device.sync.signal(.signedIn)
            await system.advance(.seconds(5))
            #expect(try await device.pending() == 0)
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `a new token ends the wait for a sign-in, and its removal does not`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.context.client.authenticationToken = "expired"
            device.network.condition = .status(401)
            device.run()
            await system.advance(.seconds(10))
            #expect(device.sync.state.phase == .needsSignIn)
            device.network.condition = .up
            device.context.client.authenticationToken = nil
            await system.advance(.seconds(10))
            #expect(device.sync.state.phase == .needsSignIn)
            device.context.client.authenticationToken = "new"
            await system.advance(.seconds(5))
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `a round that the server answers in part ends the wait for the sign-in`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.network.condition = .status(401)
            device.run()
            await system.advance(.seconds(10))
            #expect(device.sync.state.phase == .needsSignIn)
            // The app has set another token. The first plan is pulled, and the second one has no response.
            device.network.condition = .up
            let call = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(10))
            device.network.condition = .down
            await #expect(throws: SyncError.self) { try await system.value(of: call) }
            device.network.condition = .up
            await system.advance(.seconds(60))
            #expect(device.sync.state.phase == .idle(next: nil))
            #expect(device.sync.state.lastError == nil)
        }
    }

    @Test func `edits during an outage do not shorten the delays between its rounds`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.seconds(10))
            device.network.condition = .status(503)
            try await device.insert("milk")
            await system.advance(.seconds(60))
            let count = device.network.requests.count
            for index in 0..<60 {
                try await device.update("milk", "\(index)")
                await system.advance(.seconds(5))
            }
            // One round a minute would be much for an outage that has lasted for six.
            #expect(device.network.requests.count - count <= 5 * SyncSettings().retry.maxAttempts)
            device.network.condition = .up
            await system.advance(.seconds(400))
            #expect(try await device.pending() == 0)
        }
    }

    /// Holds the mutex of a device as if it showed the pending operations for a second.
    private func showOperations(of device: VirtualDevice) async {
        _ = device.system.start {
            try await device.sync.showingMutex.withLock {
                try await device.context.environment.sleep(.seconds(1))
            }
        }
        await device.system.advance(.milliseconds(10))
    }

    @Test func `the end of a round does not replace a later state of the operations`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            await showOperations(of: device)
            let round = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(10))
            try await device.insert("milk")
            _ = try await system.value(of: round)
            #expect(device.sync.state.pending == 1)
        }
    }

    @Test func `a round whose caller gives up after its last request counts`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            try await device.insert("milk")
            await showOperations(of: device)
            let round = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(100))
            #expect(round.result == nil)
            round.cancel()
            #expect(try await system.value(of: round).push.completed == 1)
            #expect(device.sync.state.lastPush != nil)
        }
    }

    @Test func `the state shows the round of a caller, whatever else happens`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.seconds(10))
            try await device.insert("milk")
            let call = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(10))
            #expect(device.sync.state.phase == .pushing(done: 0, of: 1))
            device.sync.signal(.serverHint(tables: ["Unknown"]))
            await system.advance(.milliseconds(1))
            #expect(device.sync.state.phase == .pushing(done: 0, of: 1))
            await system.advance(.milliseconds(20))
            #expect(device.sync.state.phase == .pulling(table: "TodoList", rows: 0, of: nil))
            _ = try await system.value(of: call)
            await system.advance(.milliseconds(1))
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `a run that ends during the round of a caller hides the round no more than its end`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device()
            let run = device.run()
            await system.advance(.seconds(10))
            try await device.insert("milk")
            let call = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(10))
            run.cancel()
            await system.advance(.milliseconds(1))
            #expect(device.sync.state.phase == .pushing(done: 0, of: 1))
            _ = try await system.value(of: call)
            #expect(device.sync.state.phase == .stopped)
        }
    }

    @Test(arguments: [412, 400])
    func `a refused operation shows that the server can be reached`(_ status: Int) async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            try await device.insert("milk")
            device.run()
            await system.advance(.seconds(10))
            if status == 412 {
                system.server.write("milk", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            } else {
                system.server.refuse("milk", in: "TodoItem", status: status)
            }
            device.sync.signal(.networkUnavailable)
            try await device.update("milk", "mine")
            await system.advance(.seconds(4))
            #expect(device.sync.state.lastError?.code == .pushCompletedWithErrors)
            guard case .idle = device.sync.state.phase else {
                Issue.record("\(device.sync.state.phase)")
                return
            }
        }
    }

    @Test func `a table that the server does not have shows that the server can be reached`() async throws {
        try await VirtualSystem.run { system in
            let tables = [SyncTableDefinition("Unknown", columns: [])]
            let device = try system.device(
                pulls: [PullPlan(TableQuery("Unknown"))], store: try MemoryStore(tables: tables))
            device.sync.signal(.networkUnavailable)
            device.run()
            await system.advance(.seconds(10))
            #expect(device.network.requests.map(\.summary) == ["GET Unknown"])
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `a push without time to send is not the last push`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            try await device.insert("milk")
            let sync = device.sync
            let result = try await system.perform { await sync.push(until: sync.uptime) }
            #expect(result.abortReason == nil && result.completed == 0)
            #expect(sync.state.lastPush == nil)
            _ = try await system.perform { await sync.finish(within: .seconds(5)) }
            #expect(sync.state.lastPush != nil)
        }
    }

    @Test func `a plan that is not valid does not change the order of the others`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(
                pulls: [Todo.all.pull(), PullPlan(TableQuery("Unknown")), TodoList.all.pull()])
            device.run()
            await system.advance(.seconds(10))
            #expect(device.network.requests.map(\.summary) == ["GET TodoList", "GET TodoItem"])
        }
    }

    @Test func `a clock that is set back during a wait does not prolong it`() async throws {
        try await VirtualSystem.run { system in
            let wasSetBack = Mutex(false)
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(3600))]) { time in
                wasSetBack.withLock { $0 } ? time.advanced(by: .seconds(-2000)) : time
            }
            device.run()
            await system.advance(.seconds(3000))
            wasSetBack.withLock { $0 = true }
            _ = device.network.newRequests()
            await system.advance(.seconds(610))
            #expect(device.network.newRequests() == ["GET TodoItem"])
            await system.advance(.seconds(3500))
            #expect(device.network.newRequests() == [])
            await system.advance(.seconds(110))
            #expect(device.network.newRequests() == ["GET TodoItem"])
        }
    }
}
