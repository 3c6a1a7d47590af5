// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import TableServer

/// A statement that failed, or a connection that is lost.
struct PostgreSQLError: Error, CustomStringConvertible {
    /// The SQLSTATE; empty if the server did not respond.
    let state: String
    /// What can be shown without revealing values of rows.
    let message: String
    /// Whether the connection cannot be used any more.
    var isLost = false
    /// Whether the connection was lost during a commit, so that the changes may have been made.
    var isOutcomeUnknown = false

    /// Returns the error of a request that has waited too long for a connection: the same as when a write waits for a lock, and
    /// when a read runs too long.
    static func noFreeConnection(for use: ConnectionPool.Use) -> PostgreSQLError {
        PostgreSQLError(
            state: use == .write ? "55P03" : "57014",
            message: "No connection to the database was free within the time limit.", isLost: false)
    }

    var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }

    init(state: String, message: String, isLost: Bool) {
        self.state = state
        self.isLost = isLost || Self.endOfConnection.contains(state) || state.hasPrefix("08")
        // Messages about data contain data.
        let isShown = !state.hasPrefix("22") && !state.hasPrefix("23")
        self.message = isShown && !message.isEmpty ? message : "The statement failed."
    }

    /// The server stops, has crashed or is starting, or it has ended a transaction that was idle for too long; or it has
    /// become a standby, which refuses transactions that write: another server of the connection string may not.
    private static let endOfConnection: Set = [
        "57P01", "57P02", "57P03", "57P05", "25P03", "25006", "0A000",
    ]

    /// Whether the transaction can succeed when it runs again at once: another one has inserted the same id or column, or
    /// each of the two has waited for the other.
    var isConflict: Bool { ["23505", "40001", "40P01"].contains(state) }

    /// The response to the request; `nil` if neither the filter nor the availability of the database is the reason.
    var response: RequestError? {
        if state == PostgreSQLFunctions.patternTooLong { return .patternTooLong }
        if state == PostgreSQLFunctions.computedTextTooLong { return .computedTextTooLong }
        // The expression needs more of the stack than PostgreSQL permits.
        if state == "54001" { return .filterTooDeep }
        if isOutcomeUnknown {
            return .outcomeUnknown(
                "The connection to the database was lost during the commit. The change may have been stored.",
                self)
        }
        // A statement that was canceled, usually by its limit of time.
        if state == "57014" { return .tookTooLong(self) }
        // A conflict, or the limit of the time for a lock.
        if isConflict || state == "55P03" { return .rowsLocked(self) }
        return isLost || state.hasPrefix("53") ? .databaseUnavailable(self) : nil
    }
}
