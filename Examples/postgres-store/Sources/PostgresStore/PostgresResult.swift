// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CPostgres

/// The result of a statement.
struct PostgresResult: ~Copyable {
    /// The object id of the type `bytea`.
    static let bytea: Oid = 17

    private let handle: OpaquePointer?

    init(_ handle: OpaquePointer?) { self.handle = handle }

    deinit { PQclear(handle) }

    var hasSucceeded: Bool { [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(handle)) }

    /// The command as the server reports it, such as `COMMIT` or `INSERT 0 1`.
    var command: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    /// The SQLSTATE of an error.
    var state: String {
        PQresultErrorField(handle, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    }

    var rowCount: Int { Int(PQntuples(handle)) }

    /// Returns the bytes of a value, which are valid as long as the result.
    func value(row: Int, column: Int) -> UnsafeRawBufferPointer {
        let (row, column) = (Int32(row), Int32(column))
        return UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
    }

    /// Returns a value of the type `bigint`.
    func number(row: Int, column: Int) -> Int64 {
        value(row: row, column: column).reduce(0) { $0 << 8 | Int64($1) }
    }
}
