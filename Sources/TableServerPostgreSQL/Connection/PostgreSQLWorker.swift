// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// A thread for a connection, because calls of libpq block. It connects at the first use, and again when the connection is
/// lost.
final class PostgreSQLWorker: Sendable {
    private let parameters: PostgreSQLParameters
    private let queue = DispatchQueue(label: "TableServerPostgreSQL.connection")
    private let connection = Mutex<PostgreSQLConnection?>(nil)

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

    /// Returns the connection. Only bodies call this.
    func connected() throws(PostgreSQLError) -> PostgreSQLConnection {
        if let connection = connection.withLock({ $0 }), !connection.isLost { return connection }
        disconnect()
        let new = try PostgreSQLConnection(parameters)
        connection.withLock { $0 = new }
        return new
    }

    /// Closes the connection, which rolls its transaction back.
    func disconnect() {
        let connection = connection.withLock { connection in exchange(&connection, with: nil) }
        _ = connection
    }
}
