// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A fault of one process's store, after a number of further calls.
struct StoreFault: Sendable {
    enum Kind: Sendable, CaseIterable {
        /// The call throws before its body runs.
        case failure
        /// The body runs, and its transaction is rolled back.
        case failedCommit
        /// The transaction is committed, and the drive does not confirm it.
        case unconfirmedCommit
        /// The transaction is rolled back, and the caller learns only that its outcome is unknown.
        case lostCommit
        /// The process crashes inside a transaction or read.
        case crash
        /// The process crashes after the transaction is committed, before the caller learns it.
        case crashAfterCommit

        /// Whether it happens when a body has run.
        var isOfCommit: Bool { self != .failure && self != .crash }
        /// Whether the process ends.
        var endsProcess: Bool { self == .crash || self == .crashAfterCommit }
    }

    let kind: Kind
    /// The remaining calls, or commits for a fault of a commit.
    var calls: Int
}
