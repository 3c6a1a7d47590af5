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

    /// What a pull does about pending operations.
    public enum PendingPolicy: Sendable, Hashable {
        /// Pushes them first; if that fails, the pull fails with the push's error.
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
    /// The original client's way: from the last `updatedAt` on, with `$skip` inside it.
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
    /// The server's own text of the `updatedAt` that the next pull of this query ID begins at.
    public internal(set) var deltaToken: String?

    /// The result of a pull that has done nothing yet.
    public init() {}

    mutating func count(_ outcome: PullEffects.Outcome) {
        switch outcome {
        case .upserted: upserted += 1
        case .deleted: deleted += 1
        case .unchanged: unchanged += 1
        case .pending, .conflicting: skippedAsPending += 1
        }
    }
}
