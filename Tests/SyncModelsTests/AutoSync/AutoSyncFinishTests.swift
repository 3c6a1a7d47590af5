// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import SyncModels
@testable import SyncSimulation

/// Pushes before the system suspends the app.
@Suite struct AutoSyncFinishTests {
    @Test func `the state shows the oldest change that is left, also of a sync that does not run`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device()
            system.server.write("milk", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            try await device.insert("milk")
            let pending = try await system.perform { try await device.context.pendingOperations() }
            _ = try? await system.perform { try await device.sync.syncNow() }
            #expect(device.sync.state.pending == 1)
            #expect(device.sync.state.oldestPending == pending.first?.changedAt)
        }
    }

    @Test func `finish pushes only, and ends the pulls of a running round`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [TodoList.all.pull(), Todo.all.pull()])
            device.run()
            await system.advance(.milliseconds(10))
            try await device.insert("milk")
            device.sync.signal(.background)
            let result = try await system.perform { await device.sync.finish(within: .seconds(5)) }
            #expect(result.push.completed == 1)
            #expect(result.pulls.isEmpty)
            #expect(device.network.requests.map(\.summary) == ["GET TodoList", "POST TodoItem"])
            // The pulls wait for the foreground.
            await system.advance(.seconds(60))
            #expect(device.network.requests.count == 2)
            let sync = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(30))
            _ = try await system.perform { await device.sync.finish(within: .seconds(5)) }
            let error = await #expect(throws: SyncError.self) { try await system.value(of: sync) }
            #expect(error?.code == .pullAborted)
        }
    }

    @Test func `finish sends nothing while the server has asked for a wait, which stays`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull()])
            device.network.condition = .status(503, retryAfter: "7200")
            device.run()
            await system.advance(.seconds(5))
            device.network.condition = .up
            try await device.insert("milk")
            device.sync.signal(.background)
            let requests = device.network.requests.count
            let result = try await system.perform { await device.sync.finish(within: .seconds(5)) }
            #expect(result.push.abortReason?.code == .pushAbortedService)
            let wait = try #require(result.push.abortReason?.retryAfter)
            #expect(wait > .seconds(7000) && wait < .seconds(7200))
            await system.advance(.seconds(60))
            #expect(device.network.requests.count == requests)
            #expect(try await device.pending() == 1)
            // A wait that ends before the limit is waited for.
            let longer = try await system.perform { await device.sync.finish(within: .seconds(7200)) }
            #expect(longer.push.completed == 1)
            try await device.insert("bread")
            // The user's own sync does not wait.
            device.sync.signal(.foreground)
            _ = try await system.perform { try await device.sync.syncNow() }
            #expect(try await device.pending() == 0)
        }
    }

    @Test func `finish returns at its limit with what it has sent, and what is left is sent later`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            for number in 0..<100 { try await device.insert("\(number)") }
            let start = system.time
            let result = try await system.perform { await device.sync.finish(within: .milliseconds(210)) }
            #expect(system.time - start <= .milliseconds(211))
            #expect(result.push.abortReason?.code == .pushAbortedCancelled)
            let pending = try await device.pending()
            #expect(pending > 80 && pending < 100)
            #expect(result.push.completed == 100 - pending)
            device.run()
            await system.advance(.seconds(10))
            #expect(try await device.pending() == 0)
        }
    }

    @Test func `finish reports at its limit the errors that it has found`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            for number in 0..<100 { try await device.insert("\(number)") }
            system.server.write("0", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            let push = try await system.perform {
                await device.sync.finish(within: .milliseconds(210)).push
            }
            #expect(push.errors.map(\.itemID) == ["0"])
            #expect(push.abortReason?.code == .pushAbortedCancelled)
        }
    }

    @Test func `finish reports at its limit what an aborted push has done`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [], delegate: SlowDelegate())
            for number in 0..<10 { try await device.insert("\(number)") }
            let finish = system.start { await device.sync.finish(within: .seconds(5)).push }
            await system.advance(.milliseconds(50))
            device.network.condition = .status(401)
            let push = try await system.value(of: finish)
            let pending = try await device.pending()
            #expect(pending > 0 && pending < 10)
            #expect(push.completed == 10 - pending)
        }
    }

    /// Works for a minute after each push.
    private struct SlowDelegate: SyncContextDelegate {
        func syncContext(_ context: SyncContext, didCompletePush result: PushResult) async {
            try? await context.environment.sleep(.seconds(60))
        }
    }

    @Test func `a clock that is set forward does not shorten the limit of finish`() async throws {
        try await VirtualSystem.run { system in
            let isSetForward = Mutex(false)
            let device = try system.device(pulls: []) { time in
                isSetForward.withLock { $0 } ? time.advanced(by: .seconds(3600)) : time
            }
            try await device.insert("milk")
            // Another round runs.
            let round = system.start {
                try await device.sync.roundMutex.withLock {
                    try await device.context.environment.sleep(.seconds(1))
                }
            }
            await system.advance(.milliseconds(10))
            let finish = system.start { await device.sync.finish(within: .seconds(5)) }
            await system.advance(.milliseconds(10))
            isSetForward.withLock { $0 = true }
            #expect(try await system.value(of: finish).push.completed == 1)
            try await system.value(of: round)
        }
    }

    @Test func `finish ends a pull during its request`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.network.condition = .slowPulls
            device.run()
            await system.advance(.seconds(1))
            try await device.insert("milk")
            let start = system.time
            let result = try await system.perform { await device.sync.finish(within: .seconds(5)) }
            #expect(result.push.completed == 1)
            #expect(system.time - start < .seconds(1))
        }
    }

    @Test func `finish that is cancelled while it waits for the server does not end the pull of a caller`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.network.condition = .status(503, retryAfter: "7200")
            _ = try? await system.perform { try await device.sync.syncNow() }
            device.network.condition = .slowPulls
            let finish = system.start { await device.sync.finish(within: .seconds(10_000)).push }
            await system.advance(.seconds(1))
            let sync = system.start { try await device.sync.syncNow() }
            await system.advance(.seconds(1))
            guard case .pulling = device.sync.state.phase else { return #expect(Bool(false)) }
            finish.cancel()
            #expect(try await system.value(of: finish).abortReason?.code == .pushAbortedCancelled)
            #expect(try await system.value(of: sync).pulls.count == 2)
        }
    }

    @Test func `finish does not end the push of a running round before its limit`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            for number in 0..<10 { try await device.insert("\(number)") }
            device.run()
            await system.advance(.milliseconds(50))
            let result = try await system.perform { await device.sync.finish(within: .seconds(5)) }
            #expect(result.push.abortReason == nil)
            #expect(try await device.pending() == 0)
            #expect(device.network.requests.count { $0.summary == "POST TodoItem" } == 10)
        }
    }

    @Test func `at its limit, finish ends the push of a running round`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            try await device.insert("milk")
            device.network.condition = .slowPushes
            let sync = system.start { try await device.sync.syncNow() }
            await system.advance(.seconds(1))
            let start = system.time
            let result = try await system.perform { await device.sync.finish(within: .seconds(2)) }
            #expect(result.push.abortReason?.code == .pushAbortedCancelled)
            let error = await #expect(throws: SyncError.self) { try await system.value(of: sync) }
            #expect(error?.code == .pushAbortedCancelled)
            #expect(system.time - start < .seconds(3))
            device.network.condition = .up
            _ = try await system.perform { try await device.sync.syncNow() }
            #expect(try await device.pending() == 0)
        }
    }
}
