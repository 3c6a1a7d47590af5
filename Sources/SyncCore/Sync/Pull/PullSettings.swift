// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Settings of a pull.
public struct PullSettings: Sendable, Hashable {
    /// How many rows to request per page, 1 to 1000. Servers may return fewer.
    public var pageSize = 50
    /// What to do with pending operations.
    public var pending = PendingPolicy.pushFirst
    /// How an incremental pull continues from its delta token.
    public var strategy = PullStrategy.keyset
    /// How far before the delta token an incremental pull starts, to find rows that were committed late: with an
    /// `updatedAt` earlier than rows that were already pulled.
    ///
    /// Every pull transfers the rows inside the window again; rows that the store has already cause no write.
    public var overlap = Duration.zero
    /// What to do with a row that cannot be read, because of an invalid id or a value that its column cannot hold.
    public var onUnreadableRow = UnreadableRowPolicy.skip
    /// Whether to ask the server how many rows there are to pull, to show progress: see ``PullResult/total``. Counting may
    /// cost the server more than the first page does.
    public var requestsTotal = false

    /// What a pull does with pending operations.
    public enum PendingPolicy: Sendable, Hashable {
        /// Pushes them first. A push that ends early, because the server cannot be reached or requires the user to sign
        /// in, ends the pull with its error. After refused operations the pull continues, and lists them in
        /// ``PullResult/pushErrors``.
        case pushFirst
        /// Pulls without pushing. Items with pending operations are not overwritten; their rows are stored with the
        /// operations.
        case pullAnyway
    }

    /// Makes the default settings.
    public init() {}
}

/// How an incremental pull continues from its delta token.
public enum PullStrategy: String, Sendable, Hashable, CaseIterable {
    /// After the last row, by `updatedAt` and id. Rows that change during the pull are neither missed nor repeated.
    case keyset
    /// From the last `updatedAt` on, with `$skip` inside it, as the original client did: for servers whose filters do not
    /// support `or`.
    ///
    /// Every pull transfers the rows of the last `updatedAt` again. If one of the rows that share an `updatedAt` changes during
    /// the pull, or the server returns them in another order for each page, the pull can miss one of them until it changes. Rows without `updatedAt`, or with one before
    /// 1970, are not pulled.
    case skip
}
