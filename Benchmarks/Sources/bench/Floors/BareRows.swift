// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CSystemPQ
import Foundation
import GRDB
import Synchronization

/// The rows of a table server's database, read and written with a hand-written statement for each purpose.
protocol BareRows: Sendable {
    /// Returns the rows of a page and one more, in the order of changes.
    func page(since updatedAt: String?) async throws -> [BareRow]
    func row(_ id: String) async throws -> [BareRow]
    /// Returns the number of rows.
    func count() async throws -> Int
    /// Replaces the fields of a row in a transaction.
    func update(_ id: String, fields: String, at updatedAt: String) async throws -> [BareRow]
    func close()
}

/// A row of the server's tables.
struct BareRow: Sendable {
    static let pageSize = 50
    static let columns = "id, createdAt, updatedAt, revision, deleted, fields"

    let id: String
    let createdAt: String
    let updatedAt: String
    let revision: Int
    let deleted: Bool
    let fields: String
}

struct BareSQLiteRows: BareRows {
    private let pool: DatabasePool
    /// The table's name in lower case.
    private let table: String

    init(path: String, table: String) throws {
        self.table = table
        pool = try DatabasePool(path: path)
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
    }

    func page(since updatedAt: String?) async throws -> [BareRow] {
        let bound = updatedAt == nil ? "" : "AND updatedAt >= ?"
        return try await pool.read { [table] database in
            try Self.rows(
                """
                SELECT \(BareRow.columns) FROM rows_\(table) INDEXED BY rows_\(table)_by_update
                WHERE owner = '' \(bound) ORDER BY updatedAt, id LIMIT \(BareRow.pageSize + 1)
                """, updatedAt.map { [$0] } ?? [], database)
        }
    }

    func row(_ id: String) async throws -> [BareRow] {
        try await pool.read { [table] database in try Self.row(id, in: table, database) }
    }

    func count() async throws -> Int {
        try await pool.read { [table] database in
            let statement = try database.cachedStatement(
                sql: "SELECT count(*) FROM rows_\(table) WHERE owner = ''")
            return try Int.fetchOne(statement) ?? 0
        }
    }

    func update(_ id: String, fields: String, at updatedAt: String) async throws -> [BareRow] {
        try await pool.write { [table] database in
            guard let row = try Self.row(id, in: table, database).first else {
                throw WrongResult("There is no row \(id).")
            }
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO serverStamp VALUES (?, ?)")
                .execute(arguments: [table, updatedAt])
            try database.cachedStatement(
                sql:
                    "UPDATE rows_\(table) SET updatedAt = ?, revision = ?, fields = ? WHERE owner = '' AND id = ?"
            ).execute(arguments: [updatedAt, row.revision + 1, fields, id])
            return try Self.row(id, in: table, database)
        }
    }

    func close() { try? pool.close() }

    private static func row(_ id: String, in table: String, _ database: Database) throws -> [BareRow] {
        try rows("SELECT \(BareRow.columns) FROM rows_\(table) WHERE owner = '' AND id = ?", [id], database)
    }

    private static func rows(
        _ sql: String, _ arguments: StatementArguments, _ database: Database
    ) throws -> [BareRow] {
        let cursor = try Row.fetchCursor(try database.cachedStatement(sql: sql), arguments: arguments)
        var rows: [BareRow] = []
        while let row = try cursor.next() {
            rows.append(
                BareRow(
                    id: row[0], createdAt: row[1], updatedAt: row[2], revision: row[3], deleted: row[4],
                    fields: row[5]))
        }
        return rows
    }
}

/// Connections, each with a queue on which its calls block.
struct BarePostgreSQLRows: BareRows {
    private let connections: [BareConnection]
    private let next = Next()

    private final class Next: Sendable {
        let value = Atomic<Int>(0)
    }

    /// - Parameter connections: as many as the table server has.
    init(_ parameters: String, table: String, connections count: Int = 10) throws {
        connections = try (0..<count).map { _ in try BareConnection(parameters, table: table) }
    }

    func page(since updatedAt: String?) async throws -> [BareRow] {
        try await onConnection { connection in
            if let updatedAt { return try connection.rows("page", [updatedAt]) }
            return try connection.rows("first", [])
        }
    }

    func row(_ id: String) async throws -> [BareRow] {
        try await onConnection { try $0.rows("row", [id]) }
    }

    func count() async throws -> Int { try await onConnection { try $0.count() } }

    func update(_ id: String, fields: String, at updatedAt: String) async throws -> [BareRow] {
        try await onConnection { connection in
            try connection.run("BEGIN")
            guard let row = try connection.rows("lock", [id]).first else {
                throw WrongResult("There is no row \(id).")
            }
            _ = try connection.rows("stamp", [])
            _ = try connection.rows("setStamp", [updatedAt])
            let rows = try connection.rows("update", [updatedAt, "\(row.revision + 1)", fields, id])
            try connection.run("COMMIT")
            return rows
        }
    }

    func close() {}

    private func onConnection<Result: Sendable>(
        _ body: @escaping @Sendable (BareConnection) throws -> Result
    ) async throws -> Result {
        let connection = connections[
            next.value.wrappingAdd(1, ordering: .relaxed).oldValue % connections.count]
        return try await withCheckedThrowingContinuation { continuation in
            connection.queue.async { continuation.resume(with: Swift.Result { try body(connection) }) }
        }
    }
}

/// A connection with prepared statements, used through the C API on its queue.
final class BareConnection: Sendable {
    let queue = DispatchQueue(label: "connection")
    /// The address of the connection, because pointers are not `Sendable`.
    private let address: UInt

    /// - Parameter table: the table of the prepared statements, in lower case; `nil` for none.
    init(_ parameters: String, table: String?) throws {
        address = UInt(bitPattern: PQconnectdb(parameters))
        try run("SET plan_cache_mode TO force_custom_plan; SET enable_bitmapscan TO off; SET jit TO off")
        guard let table else { return }
        let select = "SELECT \(BareRow.columns) FROM rows_\(table) WHERE owner = ''"
        let page = "ORDER BY updatedAt, id LIMIT \(BareRow.pageSize + 1)"
        for (name, statement) in [
            ("first", "\(select) \(page)"), ("page", "\(select) AND updatedAt >= $1::text \(page)"),
            ("row", "\(select) AND id = $1::text"), ("lock", "\(select) AND id = $1::text FOR UPDATE"),
            ("stamp", "SELECT FROM serverStamp WHERE tableKey = '\(table)' FOR UPDATE"),
            ("setStamp", "UPDATE serverStamp SET updatedAt = $1::text WHERE tableKey = '\(table)'"),
            ("count", "SELECT count(*) FROM rows_\(table) WHERE owner = ''"),
            (
                "update",
                """
                UPDATE rows_\(table) SET updatedAt = $1::text, revision = $2::bigint, fields = $3::json
                WHERE owner = '' AND id = $4::text RETURNING \(BareRow.columns)
                """
            ),
        ] {
            try check(PQprepare(handle, name, statement, 0, nil))
        }
    }

    deinit { PQfinish(handle) }

    private var handle: OpaquePointer? { OpaquePointer(bitPattern: address) }

    func run(_ statements: String) throws { try check(PQexec(handle, statements)) }

    /// Runs a prepared statement.
    func rows(_ name: String, _ arguments: [String]) throws -> [BareRow] {
        let copies = arguments.map { strdup($0) }
        defer { copies.forEach { free($0) } }
        let result = PQexecPrepared(
            handle, name, Int32(copies.count), copies.map { UnsafePointer($0) }, nil, nil, 0)
        defer { PQclear(result) }
        try validate(result)
        func text(_ row: Int32, _ column: Int32) -> String {
            String(cString: PQgetvalue(result, row, column))
        }
        guard PQnfields(result) == 6 else { return [] }
        return (0..<PQntuples(result)).map { row in
            BareRow(
                id: text(row, 0), createdAt: text(row, 1), updatedAt: text(row, 2),
                revision: Int(text(row, 3)) ?? 0, deleted: text(row, 4) == "t", fields: text(row, 5))
        }
    }

    func count() throws -> Int {
        let result = PQexecPrepared(handle, "count", 0, nil, nil, nil, 0)
        defer { PQclear(result) }
        try validate(result)
        return Int(String(cString: PQgetvalue(result, 0, 0))) ?? 0
    }

    private func check(_ result: OpaquePointer?) throws {
        defer { PQclear(result) }
        try validate(result)
    }

    private func validate(_ result: OpaquePointer?) throws {
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(result)) else {
            throw WrongResult("PostgreSQL: \(String(cString: PQerrorMessage(handle)))")
        }
    }
}
