// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A thread for a connection, because calls of libpq block. It connects at the first use, and again when the connection is
/// lost.
final class PostgreSQLWorker: Sendable {
    private let parameters: PostgreSQLParameters
    private let queue = DispatchQueue(label: "TableServerPostgreSQL.connection")
    private let state = Mutex(State())

    private struct State {
        var connection: PostgreSQLConnection?
        var isInterrupted = false
    }

    init(_ parameters: PostgreSQLParameters) { self.parameters = parameters }

    /// Runs the body on the worker's thread.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLWorker) throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body(self) }) }
        }
    }

    /// Runs the body and blocks the caller.
    func runNow<Result>(_ body: (PostgreSQLWorker) throws -> Result) throws -> Result {
        try queue.sync { try body(self) }
    }

    /// Returns the connection, which is in no transaction: one that a body before has left in a failed transaction is
    /// closed. Only bodies call this.
    func connected() throws(PostgreSQLError) -> PostgreSQLConnection {
        let (connection, isInterrupted) = state.withLock { ($0.connection, $0.isInterrupted) }
        guard !isInterrupted else { throw Self.interrupted }
        if let connection, !connection.isLost, !connection.isInTransaction { return connection }
        disconnect()
        let new = try PostgreSQLConnection(parameters)
        try state.withLock { state throws(PostgreSQLError) in
            guard !state.isInterrupted else { throw Self.interrupted }
            state.connection = new
        }
        return new
    }

    private static let interrupted = PostgreSQLError(
        state: "", message: "The server has stopped.", isLost: true)

    /// Ends the call that waits for the server, from another thread. Later calls fail.
    func interrupt() {
        let connection = state.withLock { state in
            state.isInterrupted = true
            return state.connection
        }
        connection?.interrupt()
    }

    /// Closes the connection, which rolls its transaction back.
    func disconnect() {
        let connection = state.withLock { state in exchange(&state.connection, with: nil) }
        _ = connection
    }
}
