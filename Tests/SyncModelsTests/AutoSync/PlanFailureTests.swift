// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import StoreMemory
import Synchronization
import Testing

@testable import SyncModels
@testable import SyncSimulation

/// Plans whose pulls fail, while other plans and pushes succeed.
@Suite struct PlanFailureTests {
    private let parents = ScheduleTimeline.parents
    private let children = ScheduleTimeline.children

    // MARK: Delays

    @Test func `a plan that fails for the first time is repeated soon, beside one that failed often`() {
        var timeline = failingParents()
        timeline.signal(.serverHint(tables: ["children"]))
        let round = timeline.runRound(
            .completed(reachedServer: true, retries: [parents, children]), pulled: [])
        #expect(round?.plans == [parents, children])
        #expect(timeline.runNextRound()?.plans == [children])
        #expect(timeline.seconds == 33)
        #expect(timeline.runNextRound()?.plans == [parents])
        #expect(timeline.seconds == 63)
    }

    @Test func `operations that fail for the first time are sent soon, beside a plan that failed often`() {
        var timeline = failingParents()
        _ = timeline.runRound(
            .completed(reachedServer: true, leavesOperations: true, retries: [parents]), pulled: [])
        #expect(timeline.runNextRound()?.plans == [])
        #expect(timeline.seconds == 33)
        #expect(timeline.runNextRound()?.plans == [parents])
        #expect(timeline.seconds == 63)
    }

    @Test func `a plan that fails for the first time is repeated soon, beside operations that fail often`() {
        var timeline = ScheduleTimeline.started()
        timeline.jitter = 1
        timeline.change()
        for _ in 0..<4 {
            _ = timeline.runNextRound(.completed(reachedServer: true, leavesOperations: true))
        }
        timeline.seconds = timeline.nextRound() ?? 0
        timeline.signal(.serverHint(tables: ["children"]))
        let round = timeline.runRound(
            .completed(reachedServer: true, leavesOperations: true, retries: [children]), pulled: [])
        #expect(round?.plans == [children])
        let end = timeline.seconds
        #expect(timeline.runNextRound()?.plans == [children])
        #expect(timeline.seconds == end + 2)
    }

    /// Returns a timeline at 31 s, when `parents` is due again after four failures, with delays of 2, 4, 8 and 16 s.
    private func failingParents() -> ScheduleTimeline {
        var timeline = ScheduleTimeline.started()
        timeline.jitter = 1
        timeline.signal(.serverHint(tables: ["parents"]))
        for _ in 0..<4 {
            timeline.seconds = timeline.nextRound() ?? 0
            _ = timeline.runRound(.completed(reachedServer: true, retries: [parents]), pulled: [])
        }
        timeline.seconds = timeline.nextRound() ?? 0
        return timeline
    }

    // MARK: State

    @Test func `the error of a plan is shown until it is pulled, whatever else succeeds`() async throws {
        try await VirtualSystem.run { system in
            let device = try await deviceWithFailedPlan(system)
            #expect(device.sync.state.lastError?.code == .storeFailure)
            try await device.insert("milk")
            await system.advance(.seconds(5))
            #expect(device.network.newRequests() == ["POST TodoItem"])
            #expect(device.sync.state.lastError?.code == .storeFailure)
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await system.advance(.seconds(5))
            let requests = device.network.newRequests()
            #expect(requests.contains("GET TodoItem") && !requests.contains("GET TodoList"))
            #expect(device.sync.state.lastError?.code == .storeFailure)
            device.sync.signal(.networkAvailable)
            await system.advance(.seconds(5))
            #expect(device.network.newRequests().contains("GET TodoList"))
            #expect(device.sync.state.lastError == nil)
        }
    }

    @Test func `the table of a plan that may succeed later is followed`() async throws {
        try await VirtualSystem.run { system in
            let sync = try await deviceWithFailedPlan(system).sync
            let tables = sync.control.withLock { sync.followed(&$0).tables }
            #expect(tables == ["TodoItem", "TodoList"])
        }
    }

    /// Returns a running device on a metered network. Its last pull of `TodoList` has failed, and waits for another network.
    private func deviceWithFailedPlan(_ system: VirtualSystem) async throws -> VirtualDevice {
        let store = FaultingStore(try MemoryStore(tables: VirtualSystem.tables()))
        let device = try system.device(store: store)
        device.run()
        await system.advance(.seconds(10))
        _ = device.network.newRequests()
        failNextPull(of: device, in: store)
        let error = await #expect(throws: SyncError.self) {
            try await system.perform { try await device.sync.syncNow() }
        }
        #expect(error?.code == .storeFailure)
        // The pull of the parents has failed before its request.
        #expect(device.network.newRequests() == ["GET TodoItem"])
        device.sync.signal(.networkExpensive)
        return device
    }

    /// Makes the store fail once, when the next pull begins.
    private func failNextPull(of device: VirtualDevice, in store: FaultingStore) {
        store.faults.error = StoreError(.corrupt, "The store is damaged.")
        store.latency = { [feed = device.sync.feed, weak store] in
            guard let store, store.faults.failingRead == nil, case .pulling = feed.state.phase else { return }
            store.faults.failingRead = store.calls.reads + 1
        }
    }

    // MARK: Answers

    @Test func `a damaged store does not end the wait that the server asks for`() async throws {
        try await VirtualSystem.run { system in
            let store = FaultingStore(try MemoryStore(tables: VirtualSystem.tables()))
            let device = try system.device(pulls: [Todo.all.pull()], store: store)
            device.run()
            await system.advance(.seconds(10))
            device.network.condition = .status(503, retryAfter: "7200")
            device.sync.signal(.serverHint(tables: ["TodoItem"]))
            await system.advance(.seconds(10))
            device.network.condition = .up
            _ = device.network.newRequests()
            failNextPull(of: device, in: store)
            let error = await #expect(throws: SyncError.self) {
                try await system.perform { try await device.sync.syncNow() }
            }
            #expect(error?.code == .storeFailure)
            await system.advance(.seconds(7000))
            #expect(device.network.newRequests() == [])
            await system.advance(.seconds(300))
            #expect(device.network.newRequests() == ["GET TodoItem"])
        }
    }

    @Test(arguments: [(StoreError.Code.schemaMismatch, true), (.corrupt, false)])
    func `a row that a constraint refuses shows an answer of the server, a damaged store does not`(
        _ code: StoreError.Code, _ showsAnswer: Bool
    ) {
        let error = SyncError(.storeFailure, "The local store failed.", cause: StoreError(code, "A reason."))
        #expect(RoundFailure(error) == .ofPlan(mayRetry: true))
        #expect(error.showsAnswer == showsAnswer)
    }
}
