// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import Testing

@testable import TableServer

/// The responses to requests whose statements SQLite cannot complete.
@Suite
struct SQLiteErrorTests {
    @Test(arguments: [
        ResultCode.SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP,
    ])
    func `a commit that the drive has not confirmed may be stored`(_ code: ResultCode) {
        let error = DatabaseError(resultCode: code, sql: "COMMIT TRANSACTION")
        #expect(error.requestError?.status == 504)
        #expect(error.requestError?.message.contains("may have been stored") == true)
    }

    @Test(arguments: [
        DatabaseError(resultCode: .SQLITE_IOERR_SHMSIZE, sql: "SELECT 1"),
        DatabaseError(resultCode: .SQLITE_IOERR_WRITE, sql: "COMMIT TRANSACTION"),
        DatabaseError(resultCode: .SQLITE_FULL, sql: "COMMIT TRANSACTION"),
    ])
    func `after other failures of the file nothing is stored`(_ error: DatabaseError) {
        #expect(error.requestError?.status == 503)
    }
}
