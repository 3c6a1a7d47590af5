// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLibPQ

/// The result of a statement, with values in text form.
struct PostgreSQLResult: ~Copyable {
    private let handle: OpaquePointer?

    init(_ handle: OpaquePointer?) { self.handle = handle }

    deinit { PQclear(handle) }

    var hasSucceeded: Bool { [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(handle)) }

    /// The command as the server reports it, such as `COMMIT`.
    var command: String { PQcmdStatus(handle).map { String(cString: $0) } ?? "" }

    var rowCount: Int { Int(PQntuples(handle)) }

    /// Returns a value; an empty text for null.
    func text(_ row: Int, _ column: Int) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    func integer(_ row: Int, _ column: Int) -> Int64 { Int64(text(row, column)) ?? 0 }

    func bool(_ row: Int, _ column: Int) -> Bool { bytes(row, column).first == UInt8(ascii: "t") }

    private func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        let (row, column) = (Int32(row), Int32(column))
        return UnsafeRawBufferPointer(
            start: PQgetvalue(handle, row, column), count: Int(PQgetlength(handle, row, column)))
    }

    /// A field of the error.
    func error(_ field: Character) -> String {
        PQresultErrorField(handle, Int32(field.asciiValue ?? 0)).map { String(cString: $0) } ?? ""
    }
}
