// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The limits on the times of calls of the storage in PostgreSQL.
package struct PostgreSQLTimeLimits: Sendable {
    /// How long a write waits for a connection and then for locks. After this time, it gets only locks that are free.
    package var lock = Duration.seconds(5)
    /// How long a read waits for a connection.
    package var read = Duration.seconds(30)
    /// How long a statement runs.
    package var statement = Duration.seconds(30)
    /// How long the server takes to respond, also when its machine or disk hangs: longer than a statement runs.
    package var response = Duration.seconds(40)
    /// How long a commit takes, which can wait for a standby. Then its outcome is unknown.
    package var commit = Duration.seconds(30)
    /// How long a transaction is idle.
    package var idle = Duration.seconds(15)
    /// The clock by which a write waits. A test replaces it.
    package var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }

    package init() {}

    /// The statements that set the limits of a connection.
    var settings: String {
        """
        SET lock_timeout TO \(lock.settingInMilliseconds);
        SET statement_timeout TO \(statement.settingInMilliseconds);
        SET idle_in_transaction_session_timeout TO \(idle.settingInMilliseconds)
        """
    }
}

extension Duration {
    /// The value of a setting that is a time limit. A value of 0 would be no limit.
    var settingInMilliseconds: Int {
        let milliseconds = (self / .milliseconds(1)).rounded(.up)
        return Int(min(max(milliseconds, 1), 1e9))
    }
}
