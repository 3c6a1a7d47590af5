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
            if !waitForSocket(hasUnsent ? POLLIN | POLLOUT : POLLIN, until: deadline) { interrupt() }
            if PQconsumeInput(handle) == 0 { return }
        }
    }

    /// Returns whether one of the events has happened before the deadline.
    private func waitForSocket<Events: BinaryInteger>(
        _ events: Events, until deadline: ContinuousClock.Instant?
    ) -> Bool {
        var socket = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
        let milliseconds = deadline.map { ($0 - .now) / .milliseconds(1) }
        if let milliseconds, milliseconds <= 0 { return false }
        // An interrupted wait is repeated by the caller.
        return poll(&socket, 1, milliseconds.map { Int32(min($0.rounded(.up), 1e9)) } ?? -1) != 0
    }
}
