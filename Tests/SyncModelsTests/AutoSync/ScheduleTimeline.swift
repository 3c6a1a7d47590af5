// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@testable import SyncModels

/// A schedule of two plans, and its clock. `parents` has no interval, `children` repeats every 300 seconds.
struct ScheduleTimeline {
    static let (parents, children) = (0, 1)

    var schedule: SyncSchedule
    /// The random number of the delays.
    var jitter = 0.5
    private(set) var time = Duration.seconds(1_000_000)
    private static let start = Duration.seconds(1_000_000)

    init(settings: AutoSync.Settings = AutoSync.Settings()) {
        schedule = SyncSchedule(
            plans: [("parents", nil), ("children", .seconds(300))], order: [Self.parents, Self.children],
            settings: settings)
    }

    /// Returns a timeline whose first round has succeeded at 0 s.
    static func started() -> ScheduleTimeline {
        var timeline = ScheduleTimeline()
        timeline.schedule.start(at: timeline.time)
        _ = timeline.runRound()
        return timeline
    }

    /// Seconds since the start.
    var seconds: Double {
        get { (time - Self.start) / .seconds(1) }
        set { time = Self.start + .milliseconds(Int64((newValue * 1000).rounded())) }
    }

    mutating func step() -> SyncSchedule.Step { schedule.next(at: time, jitter: jitter) }

    mutating func feedTime() -> Duration? { schedule.feedTime(at: time) }

    /// The round that is due now, if any.
    mutating func dueRound() -> SyncSchedule.Round? {
        if case .run(let round) = step() { round } else { nil }
    }

    /// When the next round is due, in seconds since the start, if nothing happens; `nil` if it is not known.
    mutating func nextRound() -> Double? {
        var later = self
        for _ in 0..<10 {
            switch later.step() {
            case .run: return later.seconds
            case .wait(nil, _): return nil
            case .wait(let time?, _): later.time = time
            }
        }
        return nil
    }

    /// Runs the due round to an outcome. Returns `nil` if none is due.
    mutating func runRound(
        _ outcome: SyncSchedule.Outcome = .completed(reachedServer: true), pulled: Set<Int>? = nil
    ) -> SyncSchedule.Round? {
        guard let round = dueRound() else { return nil }
        schedule.begin(round, at: time)
        end(round, outcome, pulled: pulled)
        return round
    }

    /// Ends a round. By default, all its plans are pulled if it is complete.
    mutating func end(
        _ round: SyncSchedule.Round, _ outcome: SyncSchedule.Outcome = .completed(reachedServer: true),
        pulled: Set<Int>? = nil
    ) {
        var done: Set<Int> = []
        if case .completed = outcome { done = Set(round.plans) }
        schedule.end(round, outcome, pulled: pulled ?? done, at: time, jitter: jitter)
    }

    /// Advances to the next round and runs it.
    mutating func runNextRound(
        _ outcome: SyncSchedule.Outcome = .completed(reachedServer: true)
    ) -> SyncSchedule.Round? {
        for _ in 0..<10 {
            switch step() {
            case .run: return runRound(outcome)
            case .wait(nil, _): return nil
            case .wait(let time?, _): self.time = time
            }
        }
        return nil
    }

    mutating func change() { schedule.recordLocalChange(at: time) }

    mutating func signal(_ signal: AutoSync.Signal) { schedule.record(signal, at: time) }
}
