// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import Testing

@testable import SyncModels
@testable import SyncSimulation

/// Automatic syncs against a server, with a virtual clock.
@Suite struct AutoSyncTests {
    @Test func `a start pushes, and pulls parents before their children`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            try await device.insert("milk")
            device.run()
            await system.advance(.milliseconds(500))
            #expect(
                device.network.requests.map(\.summary) == [
                    "POST TodoItem", "GET TodoList", "GET TodoItem", "GET TodoItem",
                ])
            #expect(device.network.requests.first?.time == 0)
        }
    }

    @Test func `a local change is pushed after one second, and nothing is pulled`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.seconds(60))
            _ = device.network.newRequests()
            try await device.insert("milk")
            await system.advance(.milliseconds(999))
            #expect(device.network.requests == [])
            await system.advance(.seconds(3600))
            #expect(device.network.requests.map(\.summary) == ["POST TodoItem"])
        }
    }

    @Test func `changes during a round are sent by exactly one more round`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.milliseconds(10))
            for number in 0..<5 { try await device.insert("\(number)") }
            for _ in 0..<2 { device.sync.signal(.serverHint(tables: ["TodoList"])) }
            await system.advance(.seconds(3600))
            #expect(device.network.requests.count { $0.summary == "POST TodoItem" } == 5)
            #expect(device.network.requests.count { $0.summary == "GET TodoList" } == 2)
            #expect(device.network.requests.count { $0.summary == "GET TodoItem" } == 1)
        }
    }

    @Test func `an operation that a push of the app has left is sent again`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            system.server.write("milk", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            try await device.insert("milk")
            device.run()
            await system.advance(.seconds(1000))
            // The conflict waits for a decision.
            #expect(device.sync.state.conflicts == 1)
            device.network.condition = .status(500)
            _ = try? await system.perform { try await device.context.push() }
            _ = device.network.newRequests()
            device.network.condition = .up
            await system.advance(.seconds(1000))
            #expect(device.network.newRequests().contains("POST TodoItem"))
            #expect(device.sync.state.conflicts == 1)
        }
    }

    @Test func `a plan is pulled at its interval`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(300)), TodoList.all.pull()])
            device.run()
            await system.advance(.seconds(3650))
            #expect(device.network.requests.count { $0.summary == "GET TodoItem" } == 13)
            #expect(device.network.requests.count { $0.summary == "GET TodoList" } == 1)
        }
    }

    @Test func `a sync that the user requests ignores delays, and returns the results of all plans`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.network.condition = .down
            device.run()
            await system.advance(.seconds(1000))
            try await device.insert("milk")
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            device.network.condition = .up
            let start = system.time
            let result = try await system.perform { try await device.sync.syncNow() }
            #expect(system.time - start < .seconds(1))
            #expect(result.push.completed == 1)
            #expect(result.pulls.map(\.received) == [2, 0])
            #expect(device.sync.state.lastError == nil)
            #expect(try await device.texts() == ["milk": "milk", "theirs": "theirs"])
        }
    }

    @Test func `callers that request a sync at the same time share one round`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.milliseconds(10))
            let calls = (0..<4).map { _ in system.start { try await device.sync.syncNow() } }
            // One of the callers gives up; the others still get their round.
            calls[0].cancel()
            for call in calls.dropFirst() { #expect(try await system.value(of: call).pulls.count == 2) }
            await #expect(throws: CancellationError.self) { try await system.value(of: calls[0]) }
            // The first round, and the shared one.
            #expect(device.network.requests.count { $0.summary == "GET TodoItem" } == 2)
        }
    }

    @Test func `a caller whose shared round is cancelled by another caller gets a round`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.milliseconds(10))
            let calls = (0..<2).map { _ in system.start { try await device.sync.syncNow() } }
            // The first round has two requests of 20 ms. Then the shared one begins.
            await system.advance(.milliseconds(50))
            #expect(device.network.requests.count == 3)
            calls[0].cancel()
            #expect(try await system.value(of: calls[1]).pulls.count == 2)
            await #expect(throws: CancellationError.self) { try await system.value(of: calls[0]) }
        }
    }

    @Test func `a round that all its callers have given up is not run again`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.milliseconds(10))
            // On a metered network, only a round for a caller pulls.
            device.sync.signal(.networkExpensive)
            var calls: [VirtualTask<SyncResult>] = []
            for _ in 0..<2 {
                calls.append(system.start { try await device.sync.syncNow() })
                await system.advance(.milliseconds(10))
            }
            await system.advance(.milliseconds(20))
            // The first round is complete, and the shared one has begun.
            #expect(device.network.requests.count == 3)
            calls[1].cancel()
            await system.advance(.milliseconds(1))
            calls[0].cancel()
            await system.advance(.seconds(60))
            #expect(device.network.requests.count == 3)
            for call in calls {
                await #expect(throws: CancellationError.self) { try await system.value(of: call) }
            }
        }
    }

    @Test func `a due round that a caller has run does not run again`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.run()
            await system.advance(.seconds(10))
            _ = device.network.newRequests()
            try await device.insert("milk")
            await system.advance(.milliseconds(985))
            // The push is due during the first call's round, behind the second call.
            let first = system.start { try await device.sync.syncNow() }
            await system.advance(.milliseconds(5))
            let second = system.start { try await device.sync.syncNow() }
            try await device.update("milk", "oat milk")
            for call in [first, second] { _ = try await system.value(of: call) }
            await system.advance(.seconds(60))
            #expect(device.network.requests.count { $0.summary == "GET TodoList" } == 2)
        }
    }

    @Test func `a sync that the user requests throws why the round failed`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.network.condition = .down
            let error = await #expect(throws: SyncError.self) {
                try await system.perform { try await device.sync.syncNow() }
            }
            #expect(error?.code == .pullAborted)
            #expect(device.sync.state.phase == .stopped)
        }
    }

    @Test func `a request that the transport cancels is a failure`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.network.condition = .cancelling
            device.run()
            await system.advance(.seconds(86_400))
            #expect((100..<1500).contains(device.network.requests.count))
            #expect(device.sync.state.lastError != nil)
        }
    }

    @Test func `401 stops all requests until the user has signed in`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(60))])
            device.run()
            await system.advance(.seconds(10))
            device.network.condition = .status(401)
            try await device.insert("milk")
            await system.advance(.seconds(2))
            #expect(device.sync.state.phase == .needsSignIn)
            _ = device.network.newRequests()
            try await device.insert("eggs")
            await system.advance(.seconds(86_400))
            #expect(device.network.requests == [])
            device.network.condition = .up
            device.sync.signal(.signedIn)
            await system.advance(.seconds(1))
            #expect(try await device.pending() == 0)
            #expect(device.sync.state.lastError == nil)
        }
    }

    @Test func `a long Retry-After is waited for`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(60))])
            device.network.condition = .status(503, retryAfter: "7200")
            device.run()
            await system.advance(.seconds(7199))
            #expect(device.network.requests.count == 1)
            guard case .waiting(let until) = device.sync.state.phase else { return #expect(Bool(false)) }
            #expect(until.seconds >= 1_700_007_200)
            device.network.condition = .up
            await system.advance(.seconds(10))
            #expect(device.network.requests.count == 2)
        }
    }

    @Test func `a conflict waits for its decision without requests`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            try await system.makeConflict(on: device)
            #expect(device.sync.state.conflicts == 1)
            #expect(device.sync.state.lastError?.code == .pushCompletedWithErrors)
            _ = device.network.newRequests()
            await system.advance(.seconds(86_400))
            #expect(device.network.requests == [])
            try await system.perform {
                let error = try #require(try await device.context.operationErrors().first)
                let item = try #require(try await device.context.table("TodoItem").item(id: "milk"))
                try await device.context.keepAndUpdateItem(for: error, with: item)
            }
            await system.advance(.seconds(2))
            #expect(device.sync.state.pending == 0)
            #expect(system.server.rows(of: "TodoItem")["milk"]?.fields["text"] == .text("mine"))
        }
    }

    @Test func `a refused operation is sent again until it is parked, and delays no other`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            device.run()
            system.server.refuse("poison", in: "TodoItem", status: 400)
            try await device.insert("poison")
            await system.advance(.seconds(86_400))
            #expect(device.sync.state.parked == 1)
            #expect(device.network.newRequests().count == SyncSettings().parkAfterRefusals)
            try await device.insert("milk")
            await system.advance(.milliseconds(1500))
            #expect(device.network.newRequests() == ["POST TodoItem"])
            #expect(device.sync.state.pending == 1)
        }
    }

    @Test func `a table that the server does not have prevents no other pull`() async throws {
        try await VirtualSystem.run { system in
            let tables = try VirtualSystem.tables() + [SyncTableDefinition("Unknown", columns: [])]
            let device = try system.device(
                pulls: [PullPlan(TableQuery("Unknown")), Todo.all.pull(every: .seconds(600))],
                store: try MemoryStore(tables: tables))
            system.server.write("theirs", ["text": .text("theirs")], in: "TodoItem", isLate: false)
            device.run()
            await system.advance(.seconds(3000))
            #expect(try await device.texts().count == 1)
            #expect(device.network.requests.count { $0.summary == "GET Unknown" } == 1)
            #expect(device.sync.state.lastError?.code == .pullAborted)
        }
    }

    @Test func `the sequence of states has no state twice, and shows the operations of a round with its end`()
        async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(60))])
            for number in 0..<3 { try await device.insert("\(number)") }
            let states = system.start {
                var states: [AutoSync.State] = []
                for await state in device.sync.states {
                    states.append(state)
                    if case .idle = state.phase { break }
                }
                return states
            }
            device.run()
            let seen = try await system.value(of: states)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 != $1 })
            #expect(seen.last?.pending == 0 && seen.last?.oldestPending == nil)
        }
    }

    @Test func `the state lists the rows that pulls cannot read`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(60))])
            system.server.write("odd", ["text": .int(5)], in: "TodoItem", isLate: false)
            device.run()
            await system.advance(.seconds(200))
            #expect(device.sync.state.unreadable.map(\.id) == ["odd"])
            #expect(device.sync.state.lastError == nil)
        }
    }

    @Test func `the states show what the sync does`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull(every: .seconds(60))])
            try await device.insert("milk")
            let phases = system.start {
                var phases: [AutoSync.Phase] = []
                for await state in device.sync.states {
                    if phases.last != state.phase { phases.append(state.phase) }
                    if case .idle = state.phase { break }
                }
                return phases
            }
            await system.advance(.milliseconds(10))
            #expect(device.sync.state.phase == .stopped)
            let run = device.run()
            let seen = try await system.value(of: phases)
            #expect(seen.first == .stopped)
            #expect(seen.contains(.pushing(done: 0, of: 1)))
            #expect(seen.contains(.pulling(table: "TodoItem", rows: 0, of: nil)))
            guard case .idle(let next?) = seen.last else { return #expect(Bool(false)) }
            #expect((1_700_000_060...1_700_000_061).contains(next.seconds))
            await system.advance(.seconds(1))
            let state = device.sync.state
            #expect(state.pending == 0 && state.oldestPending == nil && state.lastError == nil)
            #expect(state.lastPush != nil && state.lastPull != nil)
            run.cancel()
            try await system.value(of: run)
            #expect(device.sync.state.phase == .stopped)
        }
    }

    @Test func `a run ends when the context is closed`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            let run = device.run()
            await system.advance(.seconds(10))
            #expect(run.result == nil)
            try await system.perform { try await device.context.close() }
            try await system.value(of: run)
        }
    }

    @Test func `a second run waits until the first one has ended`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            let (first, second) = (device.run(), device.run())
            await system.advance(.seconds(10))
            #expect(device.network.newRequests().count == 2)
            first.cancel()
            await system.advance(.seconds(10))
            #expect(device.network.newRequests().count == 2)
            #expect(first.result != nil && second.result == nil)
        }
    }
}
