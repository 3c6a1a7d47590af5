// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SyncModels

/// What a sync waits for, and for how long.
@Suite struct ScheduleWaitTests {
    private let parents = ScheduleTimeline.parents
    private let children = ScheduleTimeline.children

    @Test func `the wait of the server ends before the delay after failures`() {
        var timeline = ScheduleTimeline.started()
        for _ in 0..<8 {
            _ = timeline.runNextRound(.failed(retryAfter: .seconds(1)))
            timeline.seconds += 400
        }
        _ = timeline.runRound(.failed(retryAfter: .seconds(1)))
        #expect(timeline.schedule.serverWait(at: timeline.time) == .seconds(1))
        timeline.seconds += 2
        #expect(timeline.schedule.serverWait(at: timeline.time) == nil)
        #expect(timeline.dueRound() == nil)
    }

    @Test func `in the background, a requested pull waits for the foreground`() {
        var timeline = ScheduleTimeline.started()
        timeline.signal(.background)
        timeline.signal(.networkUnavailable)
        timeline.signal(.networkAvailable)
        #expect(timeline.runNextRound()?.plans == [])
        timeline.signal(.foreground)
        #expect(timeline.runNextRound(.failed())?.plans == [parents, children])
        timeline.signal(.background)
        #expect(timeline.runNextRound()?.plans == [])
        timeline.signal(.foreground)
        #expect(timeline.runNextRound()?.plans == [parents, children])
    }
}
