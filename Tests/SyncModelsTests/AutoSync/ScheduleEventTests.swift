// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncModels

/// What a schedule remembers of events that arrive during a round, between runs and from the change feed.
@Suite struct ScheduleEventTests {
    @Test func `rounds that make progress before they fail do not wait longer and longer`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.networkUnavailable)
        timeline.change()
        var delays: [Double] = []
        for _ in 0..<5 {
            let outcome = SyncSchedule.Outcome.failed(reachedServer: true, madeProgress: true)
            guard timeline.runNextRound(outcome) != nil else { break }
            if case .wait(_, let reason) = timeline.step() { #expect(reason == .failure) }
            delays.append((timeline.nextRound() ?? .infinity) - timeline.seconds)
        }
        #expect(delays == [1, 1, 1, 1, 1])
    }

    @Test func `rounds in which the server only refuses something wait longer and longer`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.networkUnavailable)
        timeline.change()
        var delays: [Double] = []
        for _ in 0..<5 {
            guard timeline.runNextRound(.failed(reachedServer: true)) != nil else { break }
            if case .wait(_, let reason) = timeline.step() { #expect(reason == .failure) }
            delays.append((timeline.nextRound() ?? .infinity) - timeline.seconds)
        }
        #expect(delays == [1, 2, 4, 8, 16])
    }

    @Test func `a wait that the server asks for during a round stays after the round`() throws {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 20
        timeline.change()
        timeline.seconds = 21
        let due = timeline.dueRound()
        let round = try #require(due)
        timeline.schedule.begin(round, at: timeline.time)
        timeline.schedule.recordFeed(.unavailable(retryAfter: .seconds(60)), signIns: 0, at: timeline.time)
        timeline.end(round)
        timeline.signal(.serverHint(tables: ["parents"]))
        #expect(timeline.nextRound() == 81)
        // A round at the user's request ends a wait that was there before.
        timeline.schedule.begin(timeline.schedule.wholeRound, at: timeline.time)
        timeline.end(timeline.schedule.wholeRound)
        #expect(timeline.feedTime() == .zero)
    }

    @Test func `a token that could not be refreshed is a failure, and one that is refused needs the user`() {
        let failed = SyncError(.pushAbortedAuthentication, "", mayRetry: true)
        #expect(RoundFailure(failed) == .unavailable(retryAfter: nil))
        #expect(RoundFailure(SyncError(.pushAbortedAuthentication, "")) == .unauthenticated)
        let pull = SyncError(
            .pullAborted, "", cause: SyncError(.authenticationRequired, "", mayRetry: true))
        #expect(RoundFailure(pull) == .unavailable(retryAfter: nil))
    }

    private let parents = ScheduleTimeline.parents
    private let children = ScheduleTimeline.children

    @Test func `a sign-in during a round that the server refuses is not lost`() throws {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        let round = timeline.schedule.wholeRound
        timeline.schedule.begin(round, at: timeline.time)
        timeline.signal(.signedIn)
        timeline.end(round, .unauthenticated())
        #expect(timeline.nextRound() == 11)
        // The next round was begun after the sign-in.
        #expect(timeline.runNextRound(.unauthenticated())?.plans == [parents, children])
        #expect(timeline.step() == .wait(until: nil, .signedOut))
    }

    @Test func `a round that fails without an answer does not end the wait for the sign-in`() {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.unauthenticated())
        timeline.schedule.begin(timeline.schedule.wholeRound, at: timeline.time)
        timeline.end(timeline.schedule.wholeRound, .failed())
        #expect(timeline.step() == .wait(until: nil, .signedOut))
    }

    @Test func `a store that cannot be locked delays the next round, and not the running one of a caller`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.jitter = 1
        let round = timeline.schedule.wholeRound
        timeline.schedule.begin(round, at: timeline.time)
        timeline.change()
        timeline.schedule.recordLockFailure(at: timeline.time, jitter: timeline.jitter)
        #expect(timeline.schedule.isInRound)
        #expect(timeline.nextRound() == 12)
        guard case .wait(_, .failure) = timeline.step() else { return #expect(Bool(false)) }
        timeline.schedule.recordLockFailure(at: timeline.time, jitter: timeline.jitter)
        #expect(timeline.nextRound() == 14)
    }

    @Test(arguments: [SyncSchedule.Outcome.failed(), .cancelled()])
    func `on a metered network, a hint survives a round of the user that did not pull`(
        _ outcome: SyncSchedule.Outcome
    ) {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.signal(.networkExpensive)
        timeline.signal(.serverHint(tables: ["children"]))
        let round = timeline.schedule.wholeRound
        timeline.schedule.begin(round, at: timeline.time)
        timeline.end(round, outcome)
        #expect(timeline.runNextRound()?.plans == [children])
    }

    @Test func `on a metered network, plans that wait for another one are not the cause of a round`() {
        var timeline = ScheduleTimeline()
        timeline.signal(.networkExpensive)
        timeline.schedule.start(at: timeline.time)
        #expect(timeline.schedule.cause(at: timeline.time) == .start)
        _ = timeline.runRound()
        timeline.change()
        timeline.seconds = 1
        #expect(timeline.schedule.cause(at: timeline.time) == .localChange)
        #expect(timeline.runRound()?.plans == [])
        timeline.seconds = 10
        timeline.signal(.serverHint(tables: ["parents"]))
        #expect(timeline.schedule.cause(at: timeline.time) == .serverHint)
        #expect(timeline.runRound()?.plans == [parents])
    }

    @Test func `a hinted pull that was ended in the background is not forgotten on a metered network`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.networkExpensive)
        timeline.signal(.background)
        timeline.seconds = 10
        timeline.signal(.serverHint(tables: ["children"]))
        #expect(timeline.runRound(pulled: [])?.plans == [children])
        timeline.signal(.foreground)
        #expect(timeline.runNextRound()?.plans == [children])
    }

    @Test func `a network stays metered while it is away, and when the server answers again`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.networkExpensive)
        timeline.signal(.background)
        timeline.signal(.foreground)
        #expect(timeline.runNextRound()?.plans == [])
        timeline.seconds = 1000
        timeline.signal(.networkUnavailable)
        #expect(timeline.nextRound() == nil)
        timeline.change()
        #expect(timeline.runNextRound()?.plans == [])
        timeline.seconds = 2000
        #expect(timeline.dueRound() == nil)
        timeline.signal(.networkAvailable)
        #expect(timeline.runRound()?.plans == [parents, children])
    }

    @Test(arguments: [AutoSync.Signal.networkAvailable, .networkExpensive, .foreground])
    func `a signal ends the delay of operations to send again`(_ signal: AutoSync.Signal) {
        var timeline = ScheduleTimeline.started()
        for _ in 0..<8 {
            timeline.change()
            _ = timeline.runNextRound(.completed(reachedServer: false, leavesOperations: true))
        }
        timeline.seconds += 5
        #expect((timeline.nextRound() ?? 0) > timeline.seconds + 30)
        timeline.signal(signal)
        #expect(timeline.nextRound() == timeline.seconds)
    }

    @Test func `operations that have waited for others do not wait for a refused one`() {
        var timeline = ScheduleTimeline.started()
        for _ in 0..<8 {
            timeline.change()
            _ = timeline.runNextRound(.completed(reachedServer: true, leavesOperations: true))
        }
        timeline.seconds += 5
        let next = timeline.nextRound() ?? 0
        timeline.jitter = 0
        timeline.schedule.recordSendableOperations(at: timeline.time, jitter: 0)
        #expect(timeline.nextRound() == next)
        timeline.schedule.recordSendableOperations(areReleased: true, at: timeline.time, jitter: 0)
        #expect(timeline.nextRound() == timeline.seconds + 1)
    }

    @Test func `a hint may spell the name of a table in another case`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.signal(.serverHint(tables: ["Children"]))
        #expect(timeline.runRound()?.plans == [children])
    }

    @Test
    func `after a round without a failure, no failure is waited for, also if the server was not needed`() {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.failed())
        _ = timeline.runNextRound(.completed(reachedServer: false))
        timeline.change()
        guard case .wait(_, .nothingDue) = timeline.step() else { return #expect(Bool(false)) }
    }

    @Test
    func `a new run does not wait for a sign-in or after failures, but as long as the server has asked`() {
        var timeline = ScheduleTimeline.started()
        timeline.change()
        _ = timeline.runNextRound(.unauthenticated())
        timeline.seconds = 5000
        timeline.schedule.start(at: timeline.time)
        #expect(timeline.dueRound()?.plans == [parents, children])
        timeline.jitter = 1
        for _ in 0..<8 { _ = timeline.runNextRound(.failed()) }
        timeline.seconds += 1
        timeline.schedule.start(at: timeline.time)
        #expect(timeline.dueRound()?.plans == [parents, children])
        timeline.jitter = 0
        _ = timeline.runNextRound(.failed(retryAfter: .seconds(7200)))
        let end = timeline.seconds + 7200
        timeline.schedule.start(at: timeline.time)
        #expect(timeline.nextRound() == end)
    }

    @Test func `changes during each round do not delay what fails later`() {
        var timeline = ScheduleTimeline.started()
        timeline.jitter = 1
        timeline.change()
        for _ in 0..<8 {
            timeline.seconds = timeline.nextRound() ?? 0
            let round = timeline.dueRound() ?? SyncSchedule.Round()
            timeline.schedule.begin(round, at: timeline.time)
            timeline.change()
            timeline.end(round, .completed(reachedServer: true, leavesOperations: true))
            #expect(timeline.nextRound() == timeline.seconds + 1)
        }
        _ = timeline.runNextRound(.completed(reachedServer: true, leavesOperations: true))
        #expect(timeline.nextRound() == timeline.seconds + 2)
    }

    @Test func `a pull that keeps failing is repeated later and later, also with pushes between`() {
        var timeline = ScheduleTimeline.started()
        timeline.jitter = 1
        timeline.signal(.serverHint(tables: ["children"]))
        var delays: [Double] = []
        for _ in 0..<4 {
            timeline.seconds = timeline.nextRound() ?? 0
            let end = timeline.seconds
            let round = timeline.runRound(.completed(reachedServer: true, retries: [children]), pulled: [])
            #expect(round?.plans == [children])
            timeline.change()
            #expect(timeline.runNextRound()?.plans == [])
            delays.append((timeline.nextRound() ?? 0) - end)
        }
        #expect(delays == [2, 4, 8, 16])
        // What a push leaves is not delayed by the pull.
        timeline.change()
        _ = timeline.runNextRound(.completed(reachedServer: true, leavesOperations: true))
        #expect(timeline.nextRound() == timeline.seconds + 2)
        // A pull that succeeds ends the delays.
        timeline.seconds = 100
        #expect(timeline.runRound()?.plans == [children])
        timeline.seconds = 200
        timeline.signal(.serverHint(tables: ["children"]))
        _ = timeline.runRound(.completed(reachedServer: true, retries: [children]), pulled: [])
        #expect(timeline.nextRound() == 202)
    }

    @Test func `the change feed is followed while the server asks for neither a sign-in nor a wait`() {
        var timeline = ScheduleTimeline.started()
        func record(_ failure: RoundFailure?, signIns: Int? = nil) {
            let signIns = signIns ?? timeline.schedule.signIns
            timeline.schedule.recordFeed(failure, signIns: signIns, at: timeline.time)
        }
        #expect(timeline.feedTime() == .zero)
        record(.unavailable(retryAfter: nil))
        #expect(timeline.feedTime() == .zero)
        record(.unavailable(retryAfter: .seconds(60)))
        #expect(timeline.feedTime() == timeline.time + .seconds(60))
        timeline.change()
        #expect(timeline.nextRound() == 60)
        timeline.seconds = 60
        record(nil)
        #expect(timeline.feedTime() == .zero)
        record(.unauthenticated)
        #expect(timeline.feedTime() == timeline.time + .seconds(300))
        // The server may have refused the feed only.
        #expect(timeline.step() != .wait(until: nil, .signedOut))
        timeline.signal(.signedIn)
        #expect(timeline.feedTime() == .zero)
        // The refused request was sent before the sign-in.
        record(.unauthenticated, signIns: timeline.schedule.signIns - 1)
        #expect(timeline.feedTime() == .zero)
        timeline.signal(.background)
        #expect(timeline.feedTime() == nil)
    }

    @Test func `any answer of the feed refutes that the network is unavailable`() {
        for failure in [nil, RoundFailure.unauthenticated] {
            var timeline = ScheduleTimeline.started()
            timeline.signal(.networkUnavailable)
            timeline.schedule.recordFeed(.unavailable(retryAfter: nil), signIns: 0, at: timeline.time)
            #expect(timeline.step() == .wait(until: timeline.time + .seconds(300), .offline))
            timeline.schedule.recordFeed(failure, signIns: 0, at: timeline.time)
            timeline.seconds = 10
            timeline.signal(.signedIn)
            #expect(timeline.dueRound() != nil)
        }
    }

    @Test(arguments: [
        SyncSchedule.Outcome.completed(reachedServer: true),
        .failed(retryAfter: nil, reachedServer: true, madeProgress: true),
    ])
    func `an answer from before the app has reported an outage does not refute it`(
        _ outcome: SyncSchedule.Outcome
    ) throws {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.change()
        timeline.seconds = 11
        let due = timeline.dueRound()
        let round = try #require(due)
        timeline.schedule.begin(round, at: timeline.time)
        timeline.signal(.networkUnavailable)
        timeline.end(round, outcome)
        timeline.signal(.networkAvailable)
        timeline.seconds = 20
        #expect(timeline.dueRound()?.plans == [ScheduleTimeline.parents, ScheduleTimeline.children])
    }

    @Test func `a short wait for the feed does not shorten the delay after a failure`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.jitter = 1
        timeline.change()
        for _ in 0..<9 { _ = timeline.runNextRound(.failed()) }
        let end = timeline.nextRound()
        timeline.schedule.recordFeed(.unavailable(retryAfter: .seconds(1)), signIns: 0, at: timeline.time)
        #expect(timeline.nextRound() == end)
        let feedTime = timeline.time + .seconds(1)
        #expect(timeline.feedTime() == feedTime)
    }

    @Test func `a clock that is set back does not prolong the pause of the feed`() {
        var timeline = ScheduleTimeline.started()
        timeline.schedule.recordFeed(.unavailable(retryAfter: .seconds(60)), signIns: 0, at: timeline.time)
        timeline.seconds -= 86_400
        #expect(timeline.feedTime() == timeline.time + .seconds(60))
    }

    @Test(arguments: [100, -1000.0])
    func `a wait that has passed is over, also if the clock was set back meanwhile`(_ step: Double) {
        var timeline = ScheduleTimeline.started()
        guard case .wait(let time?, _) = timeline.step() else {
            Issue.record("The interval of a plan is not waited for.")
            return
        }
        timeline.seconds += step
        timeline.schedule.recordWait(until: time, at: timeline.time, clockSteps: 0)
        #expect(timeline.dueRound()?.plans == [ScheduleTimeline.children])
        // Another wait that ends by the same step of the clock moves nothing.
        timeline.schedule.recordFeed(.unavailable(retryAfter: .seconds(60)), signIns: 0, at: timeline.time)
        timeline.schedule.recordWait(until: time, at: timeline.time, clockSteps: 0)
        #expect(timeline.feedTime() == timeline.time + .seconds(60))
    }

    @Test func `a later failure does not end the wait that the server asks for`() {
        var timeline = ScheduleTimeline.started()
        timeline.seconds = 10
        timeline.change()
        #expect(timeline.runNextRound(.failed(retryAfter: .seconds(60))) != nil)
        let end = timeline.nextRound()
        timeline.seconds += 55
        let whole = timeline.schedule.wholeRound
        for _ in 0..<3 {
            timeline.schedule.begin(whole, at: timeline.time)
            timeline.end(whole, .failed())
        }
        timeline.signal(.foreground)
        #expect(timeline.nextRound() == end)
    }
}
