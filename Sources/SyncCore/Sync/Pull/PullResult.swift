// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a pull has done.
public struct PullResult: Sendable, Hashable {
    /// How many pages the server has returned, empty ones included.
    public internal(set) var pages = 0
    /// How many rows the server has returned.
    public internal(set) var received = 0
    /// How many rows the server had for this pull when it began. `nil` unless ``PullSettings/requestsTotal`` is set; also
    /// when the server did not say, or has returned more new rows since.
    ///
    /// The server's rows change during a pull, and a pull can read a row twice, so ``received`` can be greater. Only the end
    /// of the pull means that all rows are there.
    public internal(set) var total: Int?
    /// How many of the received rows were stored.
    public internal(set) var upserted = 0
    /// How many local items were removed because the server's row is deleted.
    public internal(set) var deleted = 0
    /// How many rows changed nothing, because the store had them already.
    public internal(set) var unchanged = 0
    /// How many rows were not applied because their items have pending operations.
    public internal(set) var skippedAsPending = 0
    /// Rows that could not be read and were not stored, in the order of arrival, at most ``maxUnreadable``. Those of earlier
    /// pulls of the table that have thrown an error are listed too.
    public internal(set) var unreadable: [UnreadableRow] = []
    /// The errors of operations that the push before this pull did not complete. The operations are still pending.
    public internal(set) var pushErrors: [TableOperationError] = []
    /// The server's own text of the `updatedAt` at which the next pull of this query ID starts.
    public internal(set) var deltaToken: String?

    /// How many unreadable rows are listed at most; all of them are logged.
    public static let maxUnreadable = 1000

    /// Makes the result of a pull that has done nothing yet.
    public init() {}

    mutating func countReceived(_ count: Int) {
        received += count
        if let total, total < received - unchanged { self.total = nil }
    }

    mutating func add(_ rows: [UnreadableRow]) {
        unreadable.add(rows)
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

extension [UnreadableRow] {
    /// Appends rows that are not listed yet, up to ``PullResult/maxUnreadable`` in all.
    package mutating func add(_ rows: [UnreadableRow]) {
        for row in rows where count < PullResult.maxUnreadable && !contains(row) { append(row) }
    }
}
