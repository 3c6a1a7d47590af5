// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// The connections of a store. It opens one when all are in use, and opens new ones after the server has closed them.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [PostgresConnection] = []
        var isClosed = false
    }

    private let parameters: String
    private let state = Mutex(State())
    private let users = DispatchGroup()
    private static let maxIdle = 4

    init(_ parameters: String) { self.parameters = parameters }

    /// Runs the body with a connection on which the statements have begun a transaction, which the body ends.
    func withTransaction<T>(_ beginning: String, _ body: (PostgresConnection) throws -> T) throws -> T {
        try enter()
        defer { users.leave() }
        let connection = try begin(beginning)
        do {
            let result = try body(connection)
            release(connection)
            return result
        } catch {
            // Ends the transaction, unless the connection is lost, which also ends it.
            if (try? connection.run("ROLLBACK")) == nil { connection.close() } else { release(connection) }
            throw error
        }
    }

    /// Opens a connection that does not belong to the pool.
    func connect() throws -> PostgresConnection {
        try enter()
        defer { users.leave() }
        return try PostgresConnection(parameters)
    }

    /// Waits for the transactions, then closes the connections.
    func close() {
        let isFirst = state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
        guard isFirst else { return }
        users.wait()
        discardIdle()
    }

    private func enter() throws {
        try state.withLock { state in
            guard !state.isClosed else { throw StoreError(.closed, "The store is closed.") }
            users.enter()
        }
    }

    /// An idle connection may be lost without knowing it. Nothing was done on it, so a new connection can take its place.
    private func begin(_ statements: String) throws -> PostgresConnection {
        if let idle = state.withLock({ $0.idle.popLast() }) {
            if (try? idle.run(statements)) != nil { return idle }
            idle.close()
            discardIdle()
        }
        let connection = try PostgresConnection(parameters)
        do { try connection.run(statements) } catch {
            connection.close()
            throw error
        }
        return connection
    }

    private func release(_ connection: PostgresConnection) {
        let isKept = state.withLock { state in
            guard !connection.isLost, state.idle.count < Self.maxIdle else { return false }
            state.idle.append(connection)
            return true
        }
        if !isKept { connection.close() }
    }

    private func discardIdle() {
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for connection in idle { connection.close() }
    }
}
