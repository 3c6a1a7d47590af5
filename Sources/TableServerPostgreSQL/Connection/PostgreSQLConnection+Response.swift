// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLibPQ
import Foundation

extension PostgreSQLConnection {
    /// Runs a statement without parameters. If the server has not responded after this time, the connection is lost, and it is
    /// unknown whether the statement was executed.
    ///
    /// The server's own limits do not hold for a commit, which can wait for a standby.
    func run(_ statement: String, waitingAtMost limit: Duration) throws(PostgreSQLError) -> PostgreSQLResult {
        if PQsendQuery(handle, statement) == 1 {
            let deadline = ContinuousClock.now + limit
            while PQisBusy(handle) == 1 {
                if !waitForResponse(until: deadline) { interrupt() }
                if PQconsumeInput(handle) == 0 { break }
            }
        }
        defer { while let later = PQgetResult(handle) { PQclear(later) } }
        return try checked(PostgreSQLResult(PQgetResult(handle)))
    }

    /// Returns whether the connection can be read before the deadline.
    private func waitForResponse(until deadline: ContinuousClock.Instant) -> Bool {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        let milliseconds = (deadline - .now) / .milliseconds(1)
        // An interrupted wait is repeated by the caller.
        return milliseconds > 0 && poll(&socket, 1, Int32(min(milliseconds.rounded(.up), 1e9))) != 0
    }
}
