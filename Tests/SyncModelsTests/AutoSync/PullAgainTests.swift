// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Testing

@testable import SyncModels
@testable import SyncSimulation

/// Rows that have to be pulled again because of a decision or a push, by plans without an interval.
@Suite struct PullAgainTests {
    /// Runs a device whose item `milk` the app has changed in its own database. The server refuses the change, which is parked.
    private func withRefusedChange(
        _ body: (VirtualSystem, VirtualDevice, ModelProblem<Todo>) async throws -> Void
    ) async throws {
        try await VirtualSystem.run { system in
            var settings = SyncSettings()
            settings.parkAfterRefusals = 1
            let device = try system.device(settings: settings)
            system.server.write("milk", ["text": .text("milk")], in: "TodoItem", isLate: false)
            device.run()
            await system.advance(.seconds(10))
            system.server.refuse("milk", in: "TodoItem", status: 400)
            try await system.perform {
                try await device.context.enqueueExternalChanges(in: "TodoItem", changed: ["milk"])
            }
            await system.advance(.seconds(10))
            #expect(device.sync.state.parked == 1)
            let problems = try await system.perform { try await device.context.table(Todo.self).problems() }
            _ = device.network.newRequests()
            let problem = try #require(problems.first)
            try await body(system, device, problem)
        }
    }

    @Test func `a row that a decision has removed is pulled again at once, and only once`() async throws {
        try await withRefusedChange { system, device, problem in
            try await system.perform {
                try await device.context.table(Todo.self).resolve(problem, .keepTheirs)
            }
            await system.advance(.seconds(5))
            #expect(try await device.texts() == ["milk": "milk"])
            #expect(Set(device.network.newRequests()) == ["GET TodoItem"])
            await system.advance(.seconds(3600))
            #expect(device.network.requests == [])
        }
    }

    /// The purge removes the pages that the pull has stored, and the server does not tell of them.
    @Test func `rows that a purge has removed during a pull are pulled again`() async throws {
        try await VirtualSystem.run { system in
            var plan = Todo.all.pull()
            plan.settings.pageSize = 1
            let device = try system.device(pulls: [plan])
            for number in 0..<4 {
                let text = "\(number)"
                system.server.write(text, ["text": .text(text)], in: "TodoItem", isLate: false)
            }
            device.network.condition = .slowPulls
            device.run()
            await system.advance(.seconds(150))
            #expect(try await device.texts().count == 2)
            try await system.perform { [context = device.context] in
                try await context.purge(TableQuery("TodoItem"), pending: .refuse)
            }
            await system.advance(.seconds(1200))
            #expect(device.sync.state.phase == .idle(next: nil))
            #expect(try await device.texts().count == 4)
        }
    }

    @Test func `in the background, such a row waits for the foreground`() async throws {
        try await withRefusedChange { system, device, problem in
            device.sync.signal(.background)
            try await system.perform {
                try await device.context.table(Todo.self).resolve(problem, .keepTheirs)
            }
            await system.advance(.seconds(3600))
            #expect(device.network.requests == [])
            device.sync.signal(.foreground)
            await system.advance(.seconds(5))
            #expect(try await device.texts() == ["milk": "milk"])
        }
    }

    @Test func `the plans of tables to pull again are pulled now and once`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.schedule.requestPulls(of: ["parents", "unknown"], at: timeline.time)
        #expect(timeline.schedule.cause(at: timeline.time) == .retry)
        #expect(timeline.runRound()?.plans == [ScheduleTimeline.parents])
        #expect(timeline.nextRound() == 300)
    }

    @Test func `a plan that a round has pulled after its push is not pulled again`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        let tables: Set = ["parents", "children"]
        timeline.schedule.requestPulls(of: tables, except: [ScheduleTimeline.children], at: timeline.time)
        #expect(timeline.runRound()?.plans == [ScheduleTimeline.parents])
    }

    @Test func `tables to pull again are not pulled in the background`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.signal(.background)
        timeline.schedule.requestPulls(of: ["parents"], at: timeline.time)
        #expect(timeline.step() == .wait(until: nil, .nothingDue))
        timeline.signal(.foreground)
        #expect(timeline.runRound()?.plans == [ScheduleTimeline.parents, ScheduleTimeline.children])
    }
}
