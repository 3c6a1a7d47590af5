// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

@testable import SyncSimulation

/// A week of three devices: edits of their users, and troubles of each device, one after the other.
struct VirtualWeek {
    static let duration = Duration.seconds(7 * 86_400)
    static let deviceCount = 3
    static let editCount = 1000
    static let interval = Duration.seconds(3600)

    /// What goes wrong on a device for some time.
    enum Trouble: String, Sendable, CaseIterable {
        /// Requests do not arrive, and the app reports it.
        case reportedOutage
        /// Requests do not arrive, and the app does not report it.
        case outage
        /// Responses do not arrive.
        case lostAnswers
        /// The server fails.
        case serverError
        /// The service is stopped, and asks for a wait until its start.
        case longRetryAfter
        /// The user is signed out.
        case signedOut
        /// The app pushes, and is suspended.
        case suspension
        /// The process ends, and another one starts later.
        case restart

        /// Whether the device sends requests that fail.
        var isOutage: Bool { self != .suspension && self != .restart }
    }

    enum Event: Sendable {
        case edit(device: Int)
        case begin(Trouble, device: Int, duration: Duration)
        case end(Trouble, device: Int)
    }

    /// The events in the order of their times.
    private(set) var events: [(time: Duration, event: Event)] = []
    private(set) var outageCounts: [Trouble: Int] = [:]
    /// The time that devices spend in outages.
    private(set) var outageTime = Duration.zero

    init(seed: UInt64) {
        var random = SimulationRandom(seed, 77)
        func draw(_ range: ClosedRange<Int>) -> Int { range.lowerBound + random.below(range.count) }
        for _ in 0..<Self.editCount {
            let time = Duration.seconds(draw(0...7 * 86_400))
            events.append((time, .edit(device: random.below(Self.deviceCount))))
        }
        for device in 0..<Self.deviceCount {
            var time = Duration.seconds(draw(1...7200))
            var outages = 0
            while outages < 17, time < Self.duration - .seconds(40_000) {
                let trouble = random.pick(Trouble.allCases)
                // Troubles of seconds, minutes and hours are equally likely.
                let length = Duration.seconds(
                    random.pick([draw(5...60), draw(60...1800), draw(1800...30_000)]))
                events.append((time, .begin(trouble, device: device, duration: length)))
                events.append((time + length, .end(trouble, device: device)))
                if trouble.isOutage {
                    outages += 1
                    outageCounts[trouble, default: 0] += 1
                    outageTime += length
                }
                time += length + .seconds(draw(600...20_000))
            }
        }
        events.sort { $0.time < $1.time }
    }
}
