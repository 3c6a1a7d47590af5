// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension AutoSync {
    /// The delays of an automatic sync, and whether it follows the server.
    public struct Settings: Sendable, Hashable {
        /// How long after the last local change a push begins; also the shortest time between two automatic rounds.
        public var pushDelay = Duration.seconds(1)
        /// How long after the first local change a push begins at the latest.
        public var maxPushDelay = Duration.seconds(10)
        /// The upper bound of the delay after the first failure. It doubles with each further one, and the delay is drawn
        /// between zero and the bound.
        public var initialBackoff = Duration.seconds(2)
        /// The greatest upper bound of a delay after a failure.
        public var maxBackoff = Duration.seconds(300)
        /// The longest `Retry-After` that is waited for; a longer one counts as this.
        public var maxRetryAfter = Duration.seconds(86_400)
        /// The delay before the sync lock is requested again, when another process holds it.
        public var lockRetryDelay = Duration.seconds(30)

        /// Whether the sync waits for changes at the server's change feed, with one request at a time, while the app is in the
        /// foreground: see ``SyncCore/SyncClient/nextChange(in:after:within:)``. Plans then need no interval. The tables server
        /// of this package has a change feed; on a server without one, the sync stops asking. Tables that the server does not have,
        /// or does not show, are left out, and pulled every ``maxBackoff`` until it has them.
        public var followsChangeFeed = false

        /// Makes the default settings.
        public init() {}

        /// Exponential backoff with full jitter, in whole milliseconds.
        ///
        /// - Parameter jitter: a random number from 0 to below 1.
        func backoff(failures: Int, jitter: Double) -> Duration {
            let bound = RetryPolicy.bound(initial: initialBackoff, greatest: maxBackoff, doublings: failures)
            return .milliseconds(Int64(bound / .milliseconds(1) * jitter))
        }
    }
}
