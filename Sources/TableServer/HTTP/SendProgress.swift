// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Decides whether a client has stopped reading: bytes wait to be sent, and the socket has accepted none for a time limit. A
/// value without effects.
struct SendProgress {
    private let limit: Duration
    private var sentBytes = 0
    /// The time of the latest progress; `nil` while no bytes wait.
    private var lastProgress: ContinuousClock.Instant?

    init(limit: Duration) { self.limit = limit }

    /// Records what the socket has accepted until now, and what it has not.
    mutating func isStalled(sentBytes: Int, unsentBytes: Int, at now: ContinuousClock.Instant) -> Bool {
        guard unsentBytes > 0 else {
            lastProgress = nil
            return false
        }
        guard let lastProgress, sentBytes == self.sentBytes else {
            (self.sentBytes, self.lastProgress) = (sentBytes, now)
            return false
        }
        return now - lastProgress >= limit
    }
}
