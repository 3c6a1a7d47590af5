// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLibPQ
import Foundation

extension PostgreSQLConnection {
    /// Sends statements, and returns the result of the last one. If the server has not responded after the limit, the
    /// connection is lost, and it is unknown whether the statements were executed.
    ///
    /// The server's own limits do not hold while its machine or disk hangs, which can keep the connection open, nor for a
    /// commit, which can wait for a standby.
    ///
    /// - Parameters:
    ///   - limit: `nil` for no limit.
    ///   - send: calls a function of libpq that sends, and returns its result.
    func response(
        waitingAtMost limit: Duration?, to send: () -> Int32
    ) throws(PostgreSQLError) -> PostgreSQLResult {
        let deadline = limit.map { ContinuousClock.now + $0 }
        var last: OpaquePointer?
        if send() == 1 {
            waitForResult(until: deadline)
            while let result = PQgetResult(handle) {
                PQclear(last)
                last = result
                waitForResult(until: deadline)
            }
        }
        return try checked(PostgreSQLResult(last))
    }

    /// Waits until the next result can be read without blocking. Interrupts the connection after the deadline.
    private func waitForResult(until deadline: ContinuousClock.Instant?) {
        while true {
            let hasUnsent = PQflush(handle) == 1
            guard hasUnsent || PQisBusy(handle) == 1 else { return }
            if let deadline, deadline <= .now { interrupt() }
            let events = hasUnsent ? POLLIN | POLLOUT : POLLIN
            var socket = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            // The socket does not show what TLS has read already.
            poll(&socket, 1, 100)
            if PQconsumeInput(handle) == 0 { return }
        }
    }
}
