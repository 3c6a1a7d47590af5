// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLibPQ
import Foundation
import Synchronization
import TableServer

/// A connection to the server. Its calls block, and one thread at a time uses it: see ``PostgreSQLWorker``.
final class PostgreSQLConnection: Sendable {
    /// The address of the `PGconn`, because pointers are not `Sendable`.
    private let address: UInt
    /// The names of the prepared statements, by their texts.
    private let prepared = Mutex<[String: String]>([:])
    private static let maxPrepared = 100
    private let limits: PostgreSQLTimeLimits?

    var handle: OpaquePointer? { OpaquePointer(bitPattern: address) }

    /// Connects to the server.
    init(_ parameters: PostgreSQLParameters) throws(PostgreSQLError) {
        let pairs = parameters.keywordsAndValues
        let keywords = CStrings(pairs.map(\.keyword) + [nil])
        let values = CStrings(pairs.map(\.value) + [nil])
        let handle = keywords.withPointers { keywords in
            values.withPointers { values in PQconnectdbParams(keywords, values, 1) }
        }
        guard let handle else {
            throw PostgreSQLError(state: "", message: "There is no memory for a connection.", isLost: true)
        }
        address = UInt(bitPattern: handle)
        limits = parameters.limits
        guard !isLost else {
            throw PostgreSQLError(state: "", message: lastMessage, isLost: true)
        }
        // Warnings do not belong on the program's standard error output.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        PQsetnonblocking(handle, 1)
        try run(Self.settings)
        if let limits { try run(limits.settings) }
    }

    deinit { PQfinish(handle) }

    /// Does not rely on the server's configuration.
    ///
    /// - A confirmed change survives a crash; a stronger setting of the user stays.
    /// - A lock, a statement and an idle transaction have limits. The server notices when this process or its machine ends,
    ///   so that its locks are released.
    /// - Each execution of a prepared statement is planned for its values: a plan for all values would not know how few
    ///   rows a page needs. Without statistics, a plan with a bitmap would read and sort all rows after the bound of a page.
    private static let settings = """
        SELECT set_config('synchronous_commit', 'on', FALSE)
        WHERE current_setting('synchronous_commit') IN ('off', 'local');
        SET tcp_keepalives_idle TO 10;
        SET tcp_keepalives_interval TO 5;
        SET tcp_keepalives_count TO 3;
        SET plan_cache_mode TO force_custom_plan;
        SET enable_bitmapscan TO off;
        SET default_transaction_isolation TO 'read committed';
        SET standard_conforming_strings TO on;
        SET extra_float_digits TO 1;
        SET jit TO off
        """

    var isLost: Bool { PQstatus(handle) != CONNECTION_OK }

    var isInTransaction: Bool { PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// Ends the call that waits for the server, which then finds the connection lost. Other threads can call this.
    func interrupt() { _ = shutdown(PQsocket(handle), Int32(SHUT_RDWR)) }

    private var lastMessage: String {
        String(cString: PQerrorMessage(handle)).split(whereSeparator: \.isNewline).joined(separator: " ")
    }

    /// Runs statements without parameters and returns the result of the last one.
    @discardableResult
    func run(_ statements: String) throws(PostgreSQLError) -> PostgreSQLResult {
        try run(statements, waitingAtMost: limits?.response)
    }

    /// Runs statements that have another limit of time.
    func run(
        _ statements: String, waitingAtMost limit: Duration?
    ) throws(PostgreSQLError) -> PostgreSQLResult {
        try response(waitingAtMost: limit) { PQsendQuery(handle, statements) }
    }

    /// Runs a statement with the arguments in text form. A short one stays prepared.
    @discardableResult
    func execute(
        _ statement: String, _ arguments: [String?] = []
    ) throws(PostgreSQLError) -> PostgreSQLResult {
        let name = statement.isShortStatement ? try prepare(statement) : nil
        let count = Int32(arguments.count)
        return try response(waitingAtMost: limits?.response) {
            CStrings(arguments).withPointers { values in
                if let name { return PQsendQueryPrepared(handle, name, count, values, nil, nil, 0) }
                return PQsendQueryParams(handle, statement, count, nil, values, nil, nil, 0)
            }
        }
    }

    private func prepare(_ statement: String) throws(PostgreSQLError) -> String {
        if let name = prepared.withLock({ $0[statement] }) { return name }
        if prepared.withLock({ $0.count }) >= Self.maxPrepared {
            try run("DEALLOCATE ALL")
            prepared.withLock { $0 = [:] }
        }
        let name = "s\(prepared.withLock { $0.count })"
        _ = try response(waitingAtMost: limits?.response) { PQsendPrepare(handle, name, statement, 0, nil) }
        prepared.withLock { $0[statement] = name }
        return name
    }

    /// Returns the result, unless it is an error.
    func checked(
        _ result: consuming PostgreSQLResult
    ) throws(PostgreSQLError) -> PostgreSQLResult {
        guard result.hasSucceeded else {
            let state = result.error("C")
            // An error without a state is one of the connection, whose status can still be good after a failed write.
            throw PostgreSQLError(
                state: state, message: state.isEmpty ? lastMessage : result.error("M"),
                isLost: isLost || state.isEmpty)
        }
        return result
    }
}
