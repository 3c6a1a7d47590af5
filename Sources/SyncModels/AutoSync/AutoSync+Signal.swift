// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension AutoSync {
    /// What an app reports to an automatic sync: see ``AutoSync/signal(_:)``.
    public enum Signal: Sendable, Hashable {
        /// The app is in the foreground. Coming from the background, it pushes and pulls.
        case foreground
        /// The app is in the background: until ``foreground``, only tables of a ``serverHint(tables:)`` are pulled.
        case background
        /// The network is available. After an outage, the app pushes and pulls.
        case networkAvailable
        /// The network seems to be unavailable: pushes and pulls are only attempted after the delays of failures.
        case networkUnavailable
        /// The network is metered: until ``networkAvailable``, only tables that the server has hinted at are pulled. Pushes
        /// continue.
        case networkExpensive
        /// The user has signed in: see ``AutoSync/Phase/needsSignIn``.
        case signedIn
        /// The server has changes in these tables, for example by a push notification.
        case serverHint(tables: Set<String>)
    }
}
