// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How to pull.
public struct PullSettings: Sendable, Hashable {
    /// How many rows to ask for at a time, 1 to 1000. Servers may return fewer.
    public var pageSize = 50
    /// What to do about pending operations.
    public var pending = PendingPolicy.pushFirst
    /// How an incremental pull finds where to go on.
    public var strategy = PullStrategy.keyset
    /// How far before the delta token an incremental pull begins, to find rows that were committed late: with an
    /// `updatedAt` older than what an earlier pull had seen already.
    ///
    /// Rows inside the window are transferred again each time; those that the store has cause no write.
    public var overlap = Duration.zero
    /// What to do about a row that cannot be read: one with an illegal id, or with a value that its column cannot hold.
    public var onUnreadableRow = UnreadableRowPolicy.skip

    /// What a pull does about pending operations.
    public enum PendingPolicy: Sendable, Hashable {
        /// Pushes them first. A push that ends before it is through, because the server cannot be reached or asks to
        /// sign in, ends the pull with its error. Operations that are refused do not: the pull goes on, and
        /// ``PullResult/pushErrors`` lists them.
        case pushFirst
        /// Pulls without pushing. Items with pending operations are not overwritten; the rows that came for them are
        /// kept with the operations.
        case pullAnyway
    }

    /// The default settings.
    public init() {}

    func validate() throws(SyncError) {
        guard (1...1000).contains(pageSize) else {
            throw .invalidParameter("The page size \(pageSize) is not from 1 to 1000.")
        }
        guard overlap >= .zero else { throw .invalidParameter("The overlap of a pull cannot be negative.") }
    }
}

/// How an incremental pull finds where to go on.
public enum PullStrategy: String, Sendable, Hashable, CaseIterable {
    /// After the last row seen, by `updatedAt` and id. Rows that change while the pull pages are neither skipped nor
    /// repeated.
    case keyset
    /// The original client's way: from the last `updatedAt` on, with `$skip` inside it, for servers that know no `or`.
    ///
    /// Every pull transfers the rows of the last `updatedAt` again. A row of it that changes while the pull pages can
    /// hide another until the next pull.
    case skip
}

/// What a pull has done.
public struct PullResult: Sendable, Hashable {
    /// How many requests were answered with a page, the empty ones included.
    public internal(set) var pages = 0
    /// How many rows the server has sent.
    public internal(set) var received = 0
    /// How many of them were stored.
    public internal(set) var upserted = 0
    /// How many local items were removed because the server's row is deleted.
    public internal(set) var deleted = 0
    /// How many rows the store had already.
    public internal(set) var unchanged = 0
    /// How many rows were put aside because their items have pending operations.
    public internal(set) var skippedAsPending = 0
    /// Rows that could not be read and were left out, in the order they came, at most ``maxUnreadable``.
    public internal(set) var unreadable: [UnreadableRow] = []
    /// The operations that the push before this pull could not complete; they are still pending, and in the error log.
    public internal(set) var pushErrors: [TableOperationError] = []
    /// The server's own text of the `updatedAt` that the next pull of this query ID begins at.
    public internal(set) var deltaToken: String?

    /// How many unreadable rows are listed; all of them are logged.
    public static let maxUnreadable = 1000

    /// The result of a pull that has done nothing yet.
    public init() {}

    mutating func add(_ rows: [UnreadableRow]) {
        for row in rows where unreadable.count < Self.maxUnreadable && !unreadable.contains(row) {
            unreadable.append(row)
        }
    }

    mutating func count(_ outcome: ServerRowApplier.Outcome) {
        switch outcome {
        case .upserted: upserted += 1
        case .deleted: deleted += 1
        case .unchanged: unchanged += 1
        case .pending, .conflicting: skippedAsPending += 1
        }
    }
}
