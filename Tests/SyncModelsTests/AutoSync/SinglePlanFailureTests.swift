// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncModels
@testable import SyncSimulation

/// A server that answers everything but one plan or one change: the others do not wait for it.
@Suite struct SinglePlanFailureTests {
    private let parents = ScheduleTimeline.parents
    private let children = ScheduleTimeline.children

    // MARK: Rounds

    @Test func `a plan with which a round has ended is pulled last, and fails alone until it succeeds`() {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        #expect(timeline.runRound(.failed(plan: parents))?.plans == [parents, children])
        timeline.seconds = timeline.nextRound() ?? 0
        let round = timeline.runRound(.completed(reachedServer: true, retries: [parents]), pulled: [children])
        #expect(round == SyncSchedule.Round(plans: [parents, children], mayFailAlone: [parents]))
        timeline.signal(.serverHint(tables: ["children"]))
        timeline.seconds += 10
        let again = timeline.runRound(.completed(reachedServer: true, retries: [parents]), pulled: [children])
        #expect(again?.plans == [children, parents])
        #expect(timeline.runNextRound()?.plans == [parents])
        timeline.signal(.networkUnavailable)
        timeline.signal(.networkAvailable)
        #expect(timeline.runNextRound()?.plans == [parents, children])
    }

    @Test func `a plan for which the server asks for a wait twice is pulled last until it succeeds`() {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        let failed = SyncSchedule.Outcome.failed(retryAfter: .seconds(60), plan: parents)
        #expect(timeline.runRound(failed)?.plans == [parents, children])
        #expect(timeline.runNextRound(failed)?.plans == [parents, children])
        timeline.seconds = timeline.nextRound() ?? 0
        #expect(timeline.seconds >= 120)
        #expect(timeline.runRound(failed, pulled: [children])?.plans == [children, parents])
        #expect(timeline.runNextRound()?.plans == [parents])
        timeline.signal(.networkUnavailable)
        timeline.signal(.networkAvailable)
        #expect(timeline.runNextRound()?.plans == [parents, children])
    }

    @Test func `a plan that needs a sign-in waits for it, and others do not`() {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        _ = timeline.runRound(.unauthenticated(plan: parents))
        #expect(timeline.runNextRound()?.plans == [children])
        guard case .wait(_?, .signedOut) = timeline.step() else { return #expect(Bool(false)) }
        timeline.signal(.serverHint(tables: ["parents"]))
        timeline.change()
        #expect(timeline.runNextRound()?.plans == [])
        timeline.signal(.signedIn)
        #expect(timeline.runNextRound()?.plans == [parents, children])
        guard case .wait(_?, .nothingDue) = timeline.step() else { return #expect(Bool(false)) }
    }

    @Test func `a page that the server sends to a caller ends the wait of its plan for the sign-in`() {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        _ = timeline.runRound(.unauthenticated(plan: parents))
        _ = timeline.runNextRound()
        let round = timeline.schedule.wholeRound
        #expect(round.plans == [children, parents])
        timeline.schedule.begin(round, at: timeline.time)
        timeline.schedule.end(
            round, .failed(reachedServer: true), pulled: [children], stored: [parents], at: timeline.time,
            jitter: 0)
        #expect(timeline.runNextRound()?.plans == [parents])
    }

    @Test func `a push that the server may refuse for one change only is repeated before the sign-in`() {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.unauthenticated(mayBeOfChange: true))
        guard case .wait(_?, .signedOut) = timeline.step() else { return #expect(Bool(false)) }
        // The pull shows whether the server refuses only changes.
        #expect(timeline.runNextRound(.unauthenticated())?.plans == [ScheduleTimeline.parents])
        #expect(timeline.step() == .wait(until: nil, .signedOut))
    }

    @Test(arguments: [SyncSchedule.Outcome.failed(), .cancelled()])
    func `a round without an answer leaves the pushes before the sign-in`(_ outcome: SyncSchedule.Outcome) {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.unauthenticated(mayBeOfChange: true))
        _ = timeline.runNextRound(outcome)
        guard case .wait(_?, .signedOut) = timeline.step() else { return #expect(Bool(false)) }
    }

    @Test(arguments: [
        SyncSchedule.Outcome.unauthenticated(plan: 0), .failed(isOfChange: true),
        .completed(reachedServer: false),
    ])
    func `a push that ends without a refusal of its sign-in ends the wait for one`(
        _ outcome: SyncSchedule.Outcome
    ) {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.unauthenticated(mayBeOfChange: true))
        _ = timeline.runNextRound(outcome)
        timeline.seconds += 1000
        timeline.change()
        #expect(timeline.runNextRound() != nil)
    }

    // MARK: Requests

    @Test(arguments: [403, 500, 504])
    func `a table for which the server always fails does not keep another one from being pulled`(
        _ status: Int
    ) async throws {
        try await VirtualSystem.run { system in
            system.server.write("a", ["text": .text("a")], in: "TodoItem", isLate: false)
            let device = try system.device(pulls: [TodoList.all.pull(), Todo.all.pull()])
            device.network.refusedTables = ["TodoList": status]
            device.run()
            await system.advance(.seconds(60))
            #expect(try await device.texts() == ["a": "a"])
            system.server.write("b", ["text": .text("b")], in: "TodoItem", isLate: false)
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await system.advance(.seconds(2))
            #expect(try await device.texts().count == 2)
            #expect(device.sync.state.lastError != nil)
            await system.advance(.seconds(3600))
            // The delay between its own tries grows to five minutes.
            #expect(device.network.newRequests().count { $0 == "GET TodoList" } < 150)
            device.network.refusedTables = [:]
            await system.advance(.seconds(400))
            #expect(device.sync.state.phase == .idle(next: nil))
            #expect(device.sync.state.lastError == nil)
        }
    }

    @Test func `a table that needs a sign-in does not keep others from being pulled and pushed`() async throws
    {
        try await VirtualSystem.run { system in
            system.server.write("a", ["text": .text("a")], in: "TodoItem", isLate: false)
            let device = try system.device(pulls: [TodoList.all.pull(), Todo.all.pull()])
            device.network.refusedTables = ["TodoList": 401]
            device.run()
            await system.advance(.seconds(5))
            #expect(try await device.texts() == ["a": "a"])
            #expect(device.sync.state.phase == .needsSignIn)
            try await device.insert("milk")
            await system.advance(.seconds(3600))
            #expect(try await device.pending() == 0)
            #expect(device.sync.state.phase == .needsSignIn)
            #expect(device.network.newRequests().count { $0 == "GET TodoList" } == 1)
            device.network.refusedTables = [:]
            device.sync.signal(.signedIn)
            await system.advance(.seconds(5))
            #expect(device.sync.state.phase == .idle(next: nil))
        }
    }

    @Test func `a change that the server refuses with 401 does not keep others from being sent`() async throws
    {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [TodoList.all.pull(), Todo.all.pull()])
            device.context.client.authenticationToken = "token"
            device.network.refusedTables = ["TodoList": 401]
            device.run()
            await system.advance(.seconds(5))
            try await system.perform { [context = device.context] in
                _ = try await context.table(TodoList.self).insert(TodoList(name: "Garden"))
            }
            try await device.insert("milk")
            system.server.write("b", ["text": .text("b")], in: "TodoItem", isLate: false)
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await system.advance(.seconds(60))
            #expect(system.server.rows(of: "TodoItem")["milk"] != nil)
            #expect(try await device.texts().keys.sorted() == ["b", "milk"])
            #expect(try await device.pending() == 1)
            try await device.insert("eggs")
            await system.advance(.seconds(60))
            #expect(try await device.pending() == 1)
            #expect(device.network.newRequests().count { $0.hasSuffix("TodoList") } < 20)
        }
    }

    @Test(arguments: [1, 2, 20])
    func `pushes end when the sign-in of all changes has expired`(_ count: Int) async throws {
        try await VirtualSystem.run { system in
            let device = try system.device()
            device.context.client.authenticationToken = "token"
            device.run()
            await system.advance(.seconds(5))
            device.network.condition = .status(401)
            for number in 0..<count { try await device.insert("\(number)") }
            _ = device.network.newRequests()
            await system.advance(.seconds(86_400))
            #expect(device.sync.state.phase == .needsSignIn)
            #expect(device.network.newRequests().count < 10)
            device.network.condition = .up
            device.sync.signal(.signedIn)
            await system.advance(.seconds(10))
            #expect(try await device.pending() == 0)
        }
    }

    @Test func `a round of the user does not wait as long as finish waits for the server`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [Todo.all.pull()])
            try await device.insert("milk")
            device.network.condition = .status(503, retryAfter: "600")
            device.run()
            await system.advance(.seconds(5))
            let finish = system.start { await device.sync.finish(within: .seconds(900)) }
            await system.advance(.seconds(5))
            device.network.condition = .up
            let call = system.start { try await device.sync.syncNow() }
            await system.advance(.seconds(5))
            #expect(try call.result?.get().push.completed == 1)
            #expect(try await device.pending() == 0)
            _ = try await system.value(of: finish)
        }
    }

    @Test func `operations that wait for a decision are not shown as being sent`() async throws {
        try await VirtualSystem.run { system in
            let device = try system.device(pulls: [])
            try await system.makeConflict(on: device)
            let states = system.start {
                for await state in device.sync.states {
                    if case .pushing(_, let count) = state.phase { return count }
                }
                return 0
            }
            try await device.insert("eggs")
            #expect(try await system.value(of: states) == 1)
        }
    }
}
