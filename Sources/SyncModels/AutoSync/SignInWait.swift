// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Whether a push was refused because the user must sign in. The sync then waits for the sign-in, after some further pushes if the
/// server may have refused one change only.
struct SignInWait {
    private static let maxRetries = 5

    private(set) var isNeeded = false
    /// When to push again, to find out whether the server refuses one change only.
    private(set) var retryAt: Duration?
    private var retries = 0
    /// Whether the current round has begun with a retry pending.
    private(set) var isRetrying = false

    mutating func beginRound() { (isRetrying, retryAt) = (retryAt != nil, nil) }

    /// Records that a push was refused.
    mutating func begin() { isNeeded = true }

    /// Schedules another push after a delay, at most ``maxRetries`` times.
    mutating func retry(at now: Duration, _ settings: AutoSync.Settings, jitter: Double) {
        guard isNeeded, retries < Self.maxRetries else { return }
        retryAt = now + settings.pushDelay + settings.backoff(failures: retries, jitter: jitter)
        retries += 1
    }

    mutating func move(by offset: Duration) { retryAt = retryAt.map { $0 + offset } }
}
