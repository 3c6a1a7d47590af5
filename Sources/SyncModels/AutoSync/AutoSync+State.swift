// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension AutoSync {
    /// What an automatic sync is doing.
    ///
    /// Later versions add cases: a `switch` needs a `default`.
    public enum Phase: Sendable, Hashable {
        /// The next round begins at that time; with `nil`, after a local change or a signal.
        case idle(next: Timestamp?)
        /// Operations are being sent.
        case pushing(done: Int, of: Int)
        /// Rows are being pulled: `of` is ``SyncCore/PullResult/total``.
        case pulling(table: String, rows: Int, of: Int?)
        /// The last round failed; the next one begins then.
        case waiting(until: Timestamp)
        /// The app has reported ``AutoSync/Signal/networkUnavailable``, and the server has not answered since.
        case offline
        /// The server requires the user to sign in, for all tables or for some: see ``AutoSync/Signal/signedIn``. The client's
        /// `refreshAuthentication`, if it has one, has returned `nil`; one that throws is called again in the next round.
        case needsSignIn
        /// Another process syncs the same store, and sends the changes of this one.
        case otherProcess
        /// ``AutoSync/run()`` is not running.
        case stopped
    }

    /// The state of an automatic sync, for the app's user interface.
    public struct State: Sendable, Equatable {
        /// What the sync is doing.
        public internal(set) var phase: Phase
        /// The number of pending operations.
        public internal(set) var pending: Int
        /// The number of operations in conflict with the server's row, which wait for a decision.
        public internal(set) var conflicts: Int
        /// The number of operations that the server has refused too often.
        public internal(set) var parked: Int
        /// When the first pending operation, in the order of the queue, was last changed: not when it was queued.
        public internal(set) var oldestPending: Timestamp?
        /// When a push last reached the end of the queue. The pulls of its round may still be running.
        public internal(set) var lastPush: Timestamp?
        /// When the pull of a plan was last complete. Others may have failed: see ``lastError``.
        public internal(set) var lastPull: Timestamp?
        /// The error of the last round; if it had none, that of a plan whose latest pull failed; otherwise `nil`. A push
        /// that is not aborted replaces the error of the round before, but not that of a plan: it stays until a round has pulled
        /// the plan or, for an outage, until the server answers a push.
        public internal(set) var lastError: SyncError?
        /// The rows that pulls could not read and did not store since the sync was made, at most
        /// ``SyncCore/PullResult/maxUnreadable``.
        public internal(set) var unreadable: [UnreadableRow]

        /// Makes a state, for previews and tests of a user interface.
        public init(
            phase: Phase = .stopped, pending: Int = 0, conflicts: Int = 0, parked: Int = 0,
            oldestPending: Timestamp? = nil, lastPush: Timestamp? = nil, lastPull: Timestamp? = nil,
            lastError: SyncError? = nil, unreadable: [UnreadableRow] = []
        ) {
            self.phase = phase
            self.pending = pending
            self.conflicts = conflicts
            self.parked = parked
            self.oldestPending = oldestPending
            self.lastPush = lastPush
            self.lastPull = lastPull
            self.lastError = lastError
            self.unreadable = unreadable
        }

        /// Compares errors by their codes and messages.
        public static func == (left: State, right: State) -> Bool {
            left.phase == right.phase && left.pending == right.pending && left.conflicts == right.conflicts
                && left.parked == right.parked && left.oldestPending == right.oldestPending
                && left.lastPush == right.lastPush && left.lastPull == right.lastPull
                && left.lastError?.code == right.lastError?.code
                && left.lastError?.message == right.lastError?.message && left.unreadable == right.unreadable
        }
    }
}
