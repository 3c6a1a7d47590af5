// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncModels

/// When rounds run and what they do.
@Suite struct SyncScheduleTests {
    private let parents = ScheduleTimeline.parents
    private let children = ScheduleTimeline.children

    @Test func `the first round pulls every plan, parents first`() {
        var timeline = ScheduleTimeline()
        #expect(timeline.step() == .wait(until: nil, .nothingDue))
        timeline.schedule.start(at: timeline.time)
        #expect(timeline.dueRound()?.plans == [parents, children])
    }

    // MARK: Local changes

    @Test func `a push begins one second after the last local change`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 20
        timeline.change()
        #expect(timeline.nextRound() == 21)
        timeline.seconds = 20.5
        timeline.change()
        #expect(timeline.nextRound() == 21.5)
        timeline.seconds = 21.5
        #expect(timeline.runRound()?.plans == [])
        #expect(timeline.nextRound() == 300)
    }

    @Test func `a change during the wait after a failure does not end the wait`() throws {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 20
        timeline.jitter = 0.1
        timeline.change()
        timeline.seconds = 21
        _ = timeline.runRound(.failed())
        // The delay of the failure is shorter than that of a push after a change.
        timeline.change()
        guard case .wait(_, .failure) = timeline.step() else { return #expect(Bool(false)) }
        timeline.seconds = 22
        _ = timeline.runRound()
        guard case .wait(_, .nothingDue) = timeline.step() else { return #expect(Bool(false)) }
    }

    @Test func `a push begins at most ten seconds after the first of many local changes`() {
        var timeline = ScheduleTimeline.started()
        for half in 0..<40 {
            timeline.seconds = 50 + Double(half) / 2
            if timeline.dueRound() != nil { break }
            timeline.change()
        }
        #expect(timeline.seconds == 60)
    }

    @Test func `what arrives during a round leads to exactly one more round`() throws {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        let due = timeline.dueRound()
        let round = try #require(due)
        timeline.schedule.begin(round, at: timeline.time)
        timeline.seconds = 3
        for _ in 0..<5 {
            timeline.change()
            timeline.signal(.serverHint(tables: ["parents"]))
        }
        timeline.seconds = 8
        timeline.end(round)
        #expect(timeline.nextRound() == 9)
        #expect(timeline.runNextRound()?.plans == [parents])
        #expect(timeline.nextRound() == 308)
    }

    // MARK: Pulls

    @Test func `a plan with an interval repeats after the end of its pull, another does not`() {
        var timeline = ScheduleTimeline.started()
        #expect(timeline.nextRound() == 300)
        #expect(timeline.runNextRound()?.plans == [children])
        #expect(timeline.nextRound() == 600)
    }

    @Test func `intervals are suspended in the background, and everything is pulled in the foreground`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.background)
        #expect(timeline.nextRound() == nil)
        timeline.seconds = 4000
        #expect(timeline.dueRound() == nil)
        timeline.change()
        #expect(timeline.runNextRound()?.plans == [])
        timeline.seconds = 5000
        timeline.signal(.foreground)
        #expect(timeline.runRound()?.plans == [parents, children])
        timeline.signal(.foreground)
        #expect(timeline.nextRound() == 5300)
    }

    @Test func `a hint of the server pulls the plans of its tables`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.signal(.serverHint(tables: ["children", "other"]))
        #expect(timeline.runRound()?.plans == [children])
        timeline.signal(.serverHint(tables: ["other"]))
        #expect(timeline.nextRound() == 310)
    }

    @Test func `automatic rounds are at least one second apart`() {
        var timeline = ScheduleTimeline.started()
        var rounds = 0
        for tenth in 1...100 {
            timeline.seconds = Double(tenth) / 10
            timeline.signal(.networkUnavailable)
            timeline.signal(.networkAvailable)
            timeline.signal(.serverHint(tables: ["parents", "children"]))
            timeline.change()
            if timeline.runRound() != nil { rounds += 1 }
        }
        #expect(rounds == 10)
    }

    @Test func `an interval of zero does not repeat more often than rounds follow each other`() {
        var timeline = ScheduleTimeline()
        timeline.schedule = SyncSchedule(plans: [("children", .zero)], order: [0], settings: .init())
        timeline.schedule.start(at: timeline.time)
        _ = timeline.runRound()
        #expect(timeline.nextRound() == 1)
    }

    // MARK: Failures

    @Test func `the bound of the delay doubles with each failure up to five minutes`() {
        var timeline = ScheduleTimeline()
        timeline.jitter = 1
        timeline.schedule.start(at: timeline.time)
        var delays: [Double] = []
        for _ in 0..<10 {
            #expect(timeline.runNextRound(.failed())?.plans == [parents, children])
            delays.append((timeline.nextRound() ?? 0) - timeline.seconds)
        }
        #expect(delays == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    }

    @Test(arguments: [Duration.seconds(Int64.max), .seconds(-1), .zero])
    func `a delay of any length can be doubled`(_ backoff: Duration) {
        var settings = AutoSync.Settings()
        (settings.initialBackoff, settings.maxBackoff) = (backoff, backoff)
        for failures in [0, 5, 31, Int.max] {
            let delay = settings.backoff(failures: failures, jitter: 0.5)
            #expect(delay > .zero ? backoff > .zero : delay == .zero && backoff <= .zero)
        }
    }

    @Test func `the delay is drawn between zero and its bound`() {
        for (jitter, delay) in [(0, 1.0), (0.25, 2), (0.5, 4), (0.75, 6)] {
            var timeline = ScheduleTimeline()
            timeline.jitter = jitter
            timeline.schedule.start(at: timeline.time)
            for _ in 0..<3 { _ = timeline.runNextRound(.failed()) }
            // Rounds are one second apart also without a delay.
            #expect((timeline.nextRound() ?? 0) - timeline.seconds == delay)
        }
    }

    @Test(arguments: [AutoSync.Signal.networkAvailable, .networkExpensive, .foreground, .signedIn])
    func `a signal ends the delay and starts its bound over`(_ signal: AutoSync.Signal) {
        var timeline = failing(6)
        let next = timeline.nextRound() ?? 0
        #expect(next > timeline.seconds + 30)
        timeline.seconds += 5
        timeline.signal(signal)
        #expect(timeline.nextRound() == timeline.seconds)
        _ = timeline.runRound(.failed())
        #expect(timeline.nextRound() == timeline.seconds + 1)
    }

    @Test func `a success starts the bound of the delay over`() {
        var timeline = failing(6)
        _ = timeline.runNextRound()
        timeline.change()
        _ = timeline.runNextRound(.failed())
        #expect(timeline.nextRound() == timeline.seconds + 1)
    }

    @Test func `a local change does not shorten the delay after a failure`() {
        var timeline = failing(8)
        let next = timeline.nextRound()
        timeline.change()
        #expect(timeline.nextRound() == next)
    }

    @Test func `the wait that the server asks for is waited for, whatever the app reports`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.change()
        #expect(timeline.runNextRound(.failed(retryAfter: .seconds(7200))) != nil)
        #expect(timeline.nextRound() == 7212)
        for signal in [
            AutoSync.Signal.foreground, .networkAvailable, .signedIn, .serverHint(tables: ["parents"]),
        ] {
            timeline.signal(signal)
            #expect(timeline.nextRound() == 7212)
        }
        // A round that the user requests, and that fails for another reason, does not shorten it.
        let whole = timeline.schedule.wholeRound
        timeline.schedule.begin(whole, at: timeline.time)
        timeline.end(whole, .failed())
        #expect(timeline.nextRound() == 7212)
        timeline.schedule.begin(whole, at: timeline.time)
        timeline.end(whole)
        timeline.change()
        #expect(timeline.nextRound() == timeline.seconds + 1)
    }

    @Test func `a wait that the server asks for is limited to a day`() {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        _ = timeline.runRound(.failed(retryAfter: .seconds(Int64.max / 2)))
        #expect(timeline.nextRound() == 86_401)
    }

    @Test func `operations that failed are sent again later and later, and delay no others`() {
        var timeline = ScheduleTimeline.started()
        timeline.jitter = 1
        timeline.change()
        var delays: [Double] = []
        for _ in 0..<4 {
            _ = timeline.runNextRound(.completed(reachedServer: true, leavesOperations: true))
            delays.append((timeline.nextRound() ?? 0) - timeline.seconds)
        }
        #expect(delays == [2, 4, 8, 16])
        timeline.change()
        #expect(timeline.nextRound() == timeline.seconds + 1)
        _ = timeline.runNextRound()
        #expect(timeline.nextRound() == 300)
    }

    @Test func `a pull that failed is repeated later, without the others`() {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        _ = timeline.runRound(.completed(reachedServer: true, retries: [parents]), pulled: [children])
        #expect(timeline.nextRound() == 1)
        #expect(timeline.runNextRound()?.plans == [parents])
    }

    @Test func `a cancelled round is due again`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.signal(.serverHint(tables: ["parents"]))
        _ = timeline.runRound(.cancelled())
        #expect(timeline.runNextRound()?.plans == [parents])
        #expect(timeline.seconds == 11)
    }

    // MARK: Sign-in

    @Test func `no round runs until the user has signed in`() {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.unauthenticated())
        timeline.seconds = 5000
        for signal in [
            AutoSync.Signal.background, .foreground, .networkAvailable, .serverHint(tables: ["parents"]),
        ] {
            timeline.signal(signal)
            timeline.change()
            #expect(timeline.step() == .wait(until: nil, .signedOut))
        }
        timeline.signal(.signedIn)
        #expect(timeline.runRound()?.plans == [parents, children])
    }

    @Test(arguments: [SyncSchedule.Outcome.completed(reachedServer: true), .failed(reachedServer: true)])
    func `an answer to a round that the user requests ends the wait for the sign-in`(
        _ outcome: SyncSchedule.Outcome
    ) {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.unauthenticated())
        timeline.schedule.begin(timeline.schedule.wholeRound, at: timeline.time)
        timeline.end(timeline.schedule.wholeRound, outcome)
        #expect(timeline.step() != .wait(until: nil, .signedOut))
    }

    // MARK: Network

    @Test func `without network, rounds run after the delays of failures only`() {
        var timeline = ScheduleTimeline.started()
        timeline.jitter = 1
        timeline.signal(.networkUnavailable)
        timeline.seconds = 100
        timeline.change()
        timeline.seconds = 101
        #expect(timeline.step() == .wait(until: timeline.time + .seconds(2), .offline))
        var delays: [Double] = []
        for _ in 0..<9 {
            _ = timeline.runNextRound(.failed())
            delays.append((timeline.nextRound() ?? 0) - timeline.seconds)
        }
        #expect(delays == [2, 4, 8, 16, 32, 64, 128, 256, 300])
        #expect(timeline.step() == .wait(until: timeline.time + .seconds(300), .offline))
    }

    @Test func `without network and without work, nothing is waited for`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.background)
        timeline.signal(.networkUnavailable)
        #expect(timeline.step() == .wait(until: nil, .offline))
    }

    @Test func `an answer of the server refutes that the network is unavailable`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.networkUnavailable)
        timeline.change()
        _ = timeline.runNextRound()
        timeline.seconds = 100
        timeline.change()
        #expect(timeline.nextRound() == 101)
    }

    @Test func `a round without a request does not refute it`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.networkUnavailable)
        timeline.change()
        _ = timeline.runNextRound(.completed(reachedServer: false))
        timeline.seconds = 100
        timeline.change()
        #expect(timeline.nextRound() == 102)
    }

    @Test func `everything is pulled when the network is back, but not when it was never away`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.signal(.networkAvailable)
        #expect(timeline.nextRound() == 300)
        timeline.signal(.networkUnavailable)
        timeline.signal(.networkAvailable)
        #expect(timeline.runRound()?.plans == [parents, children])
    }

    @Test func `a metered network pulls after hints only, and pushes`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.networkExpensive)
        #expect(timeline.nextRound() == nil)
        timeline.seconds = 1000
        timeline.change()
        #expect(timeline.runNextRound()?.plans == [])
        timeline.signal(.background)
        timeline.signal(.foreground)
        #expect(timeline.runNextRound()?.plans == [])
        timeline.signal(.serverHint(tables: ["children"]))
        #expect(timeline.runNextRound(.failed())?.plans == [children])
        #expect(timeline.runNextRound()?.plans == [children])
        timeline.signal(.networkAvailable)
        #expect(timeline.runNextRound()?.plans == [parents, children])
    }

    // MARK: Other processes and clocks

    @Test func `while another process syncs, the next attempt follows after thirty seconds`() {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        timeline.schedule.recordOtherProcess(at: timeline.time)
        #expect(timeline.step() == .wait(until: timeline.time + .seconds(30), .otherProcess))
        timeline.change()
        #expect(timeline.nextRound() == 30)
        timeline.signal(.foreground)
        #expect(timeline.dueRound()?.plans == [parents, children])
    }

    @Test func `a clock that is set back makes no wait longer`() {
        var timeline = failing(8)
        let delay = (timeline.nextRound() ?? 0) - timeline.seconds
        timeline.seconds -= 86_400
        #expect((timeline.nextRound() ?? 0) - timeline.seconds == delay)
        var started = ScheduleTimeline.started()
        started.seconds = -5000
        #expect(started.nextRound() == -4700)
        started.change()
        #expect(started.nextRound() == -4999)
    }

    /// Returns a timeline whose last rounds have failed.
    private func failing(_ count: Int) -> ScheduleTimeline {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        for _ in 0..<count { _ = timeline.runNextRound(.failed()) }
        return timeline
    }
}
