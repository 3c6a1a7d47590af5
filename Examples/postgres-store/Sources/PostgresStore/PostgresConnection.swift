// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CPostgres
import SyncCore

/// A connection to the server. One thread at a time uses it: see ``ConnectionPool``.
struct PostgresConnection: Sendable {
    /// The address of the `PGconn`, because pointers are not `Sendable`.
    private let address: UInt

    private var handle: OpaquePointer? { OpaquePointer(bitPattern: address) }

    /// Connects to the server.
    ///
    /// - Throws: ``/SyncCore/StoreError/Code/unavailable`` when the server does not accept the connection.
    init(_ parameters: String) throws {
        guard let handle = PQconnectdb(parameters) else {
            throw StoreError(.unavailable, "There is no memory for a connection; try again later.")
        }
        address = UInt(bitPattern: handle)
        guard !isLost else {
            let cause = PostgresFailure(message: String(cString: PQerrorMessage(handle)))
            close()
            throw StoreError(
                .unavailable,
                "The PostgreSQL server cannot be reached; check the connection's parameters, or try again later.",
                cause: cause)
        }
        // Warnings do not belong on the app's standard error output.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        do {
            // Does not rely on the server's configuration: without it, a crash of the server loses returned writes.
            try run("SET synchronous_commit TO on")
            // The server notices within ten seconds that this machine is gone, and releases its locks. It ignores these
            // settings on a Unix socket, whose end it notices at once.
            try run("SET tcp_keepalives_idle TO 4; SET tcp_keepalives_interval TO 1")
            try run("SET tcp_keepalives_count TO 4; SET tcp_user_timeout TO 8000")
        } catch {
            close()
            throw error
        }
    }

    var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    func close() { PQfinish(handle) }

    /// Runs statements without parameters and returns the command of the last one.
    @discardableResult
    func run(_ statements: String) throws -> String {
        let result = PostgresResult(PQexec(handle, statements))
        try check(result)
        return result.command
    }

    /// Runs a statement with parameters of the type `bytea`.
    func execute(_ statement: String, _ parameters: [[UInt8]] = []) throws -> PostgresResult {
        let count = parameters.count
        let types = [Oid](repeating: PostgresResult.bytea, count: count)
        let formats = [Int32](repeating: 1, count: count)
        let lengths = parameters.map { Int32($0.count) }
        // One buffer, because the pointers must be valid together. An empty parameter needs a pointer that is not null.
        var bytes: [UInt8] = []
        for parameter in parameters { bytes += parameter }
        bytes.append(0)
        let handle = bytes.withUnsafeBytes { bytes in
            var start = 0
            let values = parameters.map { parameter -> UnsafePointer<CChar>? in
                defer { start += parameter.count }
                return bytes.baseAddress?.advanced(by: start).assumingMemoryBound(to: CChar.self)
            }
            return PQexecParams(
                self.handle, statement, Int32(count), types, values, lengths, formats, 1)
        }
        let result = PostgresResult(handle)
        try check(result)
        return result
    }

    /// Commits the transaction.
    ///
    /// - Throws: ``/SyncCore/StoreError/Code/outcomeUnknown`` when the connection is lost, because the server may have
    ///   committed.
    func commit() throws {
        let command: String
        do { command = try run("COMMIT") } catch {
            guard isLost else { throw error }
            throw StoreError(
                .outcomeUnknown,
                "The connection was lost during the commit; read the store to find out its outcome.",
                cause: error)
        }
        // The server rolls back a transaction of which a statement has failed, and reports no error.
        guard command == "COMMIT" else {
            throw StoreError(.inputOutput, "The server rolled the transaction back; nothing has changed.")
        }
    }

    private func check(_ result: borrowing PostgresResult) throws {
        guard !result.hasSucceeded else { return }
        throw PostgresFailure(message: String(cString: PQerrorMessage(handle)), state: result.state)
            .storeError(isLost: isLost)
    }
}
