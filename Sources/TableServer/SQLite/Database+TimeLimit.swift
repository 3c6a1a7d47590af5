// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite

extension Database {
    /// Runs a body whose statements fail with `SQLITE_INTERRUPT` after the deadline: a filter can take long for each row.
    func limitingTime<Result>(to deadline: ReadDeadline, _ body: () throws -> Result) rethrows -> Result {
        try ReadDeadline.$current.withValue(deadline) {
            sqlite3_progress_handler(
                sqliteConnection, Self.stepsBetweenChecks, { _ in ReadDeadline.hasPassed ? 1 : 0 }, nil)
            defer { sqlite3_progress_handler(sqliteConnection, 0, nil, nil) }
            return try body()
        }
    }

    /// Runs a body in a write transaction, which fails with `SQLITE_BUSY` if another process locks the file for this time.
    func inTransaction<Value>(waitingAtMost limit: Duration, _ body: () throws -> Value) throws -> Value {
        let milliseconds = (limit / .milliseconds(1)).rounded(.up)
        sqlite3_busy_timeout(sqliteConnection, Int32(min(max(milliseconds, 0), 1e9)))
        var result: Result<Value, any Error> = .failure(DatabaseError(resultCode: .SQLITE_ABORT))
        try inTransaction {
            result = .success(try body())
            return .commit
        }
        return try result.get()
    }

    /// The steps of SQLite's virtual machine between two looks at the clock. A row needs about twenty.
    private static var stepsBetweenChecks: Int32 { 1000 }
}

/// The end of the time of the read that this thread runs.
///
/// SQLite calls its progress handler only between rows, but a filter can call thousands of functions for one row. So the
/// functions check the deadline too.
struct ReadDeadline {
    @TaskLocal static var current: ReadDeadline?

    let instant: ContinuousClock.Instant
    let now: @Sendable () -> ContinuousClock.Instant

    init(_ limits: SQLiteTimeLimits) { (instant, now) = (limits.now() + limits.read, limits.now) }

    var hasPassed: Bool { now() > instant }

    static var hasPassed: Bool { current?.hasPassed ?? false }
}
