// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Spaces the reads of an observer, so that many commits in a row cost it few reads.
///
/// A single change is read at once. After a read of less than ten seconds, the observer waits as long as the read took before
/// the next one, and twice as long as the last time when a change arrived during the delay: a burst of commits costs a number
/// of reads that grows with the duration of the burst, not with the number of commits.
struct ReadPacing {
    /// The maximum delay, unless the last read took longer.
    static let maxDelay = Duration.milliseconds(250)

    /// The minimum time between two reads.
    let interval: Duration
    private var delay = Duration.zero
    private var lastRead: (began: Timestamp, ended: Timestamp)?

    init(interval: Duration = .zero) { self.interval = interval }

    /// Waits before the next read, or until the context closes.
    ///
    /// - Throws: `CancellationError`.
    mutating func delay(in context: SyncContext) async throws {
        let environment = context.environment
        let duration = wait(at: environment.now())
        guard duration > .zero else { return }
        let end = context.commits.signals(of: [.end], beginsAtOnce: false) { _ in false }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await environment.sleep(duration) }
            group.addTask { for await _ in end {} }
            try await group.next()
            group.cancelAll()
        }
        // The signals end without an error when the task is cancelled.
        try Task.checkCancellation()
    }

    /// Returns how long to wait before the next read.
    mutating func wait(at now: Timestamp) -> Duration {
        guard let lastRead else { return .zero }
        let readTime = lastRead.ended.since(lastRead.began)
        let idleTime = now.since(lastRead.ended)
        // The clock may be set while the observer reads or waits.
        guard readTime >= .zero, idleTime >= .zero else { return .zero }
        // The app may have been suspended during a read of this time.
        guard readTime < .seconds(10) else { return max(.zero, interval - idleTime) }
        let minimum = max(readTime, delay)
        delay = idleTime < minimum ? max(readTime, min(minimum * 2, Self.maxDelay)) : .zero
        return max(.zero, max(minimum, interval) - idleTime)
    }

    /// Records a read.
    mutating func didRead(from began: Timestamp, to ended: Timestamp) { lastRead = (began, ended) }
}
