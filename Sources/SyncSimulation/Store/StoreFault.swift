// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A fault of one process's store, after a number of further calls.
struct StoreFault: Sendable {
    enum Kind: Sendable, CaseIterable {
        /// The call throws, and its transaction is rolled back.
        case failure
        /// The process crashes inside a transaction or read.
        case crash
        /// The process crashes after the transaction is committed, before the caller learns it.
        case crashAfterCommit
    }

    let kind: Kind
    /// The remaining calls, or commits for `crashAfterCommit`.
    var calls: Int
}
