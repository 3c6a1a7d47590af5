// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// When the next push is to begin: after local changes, at a request, or for operations that were left pending outside of
/// rounds. Times are `nil` when there is no such reason to push.
struct PushTimes {
    private(set) var firstChange: Duration?
    private var lastChange: Duration?
    private(set) var requestedAt: Duration?
    var leftOperationsAt: Duration?

    /// The earliest time.
    func next(_ settings: AutoSync.Settings) -> Duration? {
        guard let firstChange, let lastChange else {
            return [requestedAt, leftOperationsAt].compactMap(\.self).min()
        }
        let time = min(lastChange + settings.pushDelay, firstChange + settings.maxPushDelay)
        return min(time, requestedAt ?? time)
    }

    mutating func recordChange(at now: Duration) { (firstChange, lastChange) = (firstChange ?? now, now) }

    mutating func request(at time: Duration) { requestedAt = min(requestedAt ?? time, time) }

    /// Ends the delays after failures.
    mutating func endDelays(at now: Duration) {
        requestedAt = requestedAt.map { min($0, now) }
        leftOperationsAt = leftOperationsAt.map { min($0, now) }
    }

    mutating func move(by offset: Duration) {
        for time in [\Self.firstChange, \.lastChange, \.requestedAt, \.leftOperationsAt] {
            self[keyPath: time] = self[keyPath: time].map { $0 + offset }
        }
    }
}
