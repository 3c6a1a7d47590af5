// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore
import Testing

@testable import StoreSQLite

/// The codes of errors that no test can provoke in a file.
struct ErrorCodeTests {
    /// The log has the whole transaction then, and the next opening finds it.
    @Test(arguments: [ResultCode.SQLITE_IOERR_SHMSIZE, .SQLITE_IOERR_SHMMAP, .SQLITE_IOERR_FSYNC])
    func `a commit that cannot write its shared memory has an unknown outcome`(_ code: ResultCode) {
        let error = DatabaseError(resultCode: code, sql: "COMMIT TRANSACTION")
        #expect(StoreError(error).code == .outcomeUnknown)
    }

    @Test func `a statement that cannot enlarge the shared memory finds the disk full`() {
        let error = DatabaseError(resultCode: .SQLITE_IOERR_SHMSIZE, sql: "SELECT 1")
        #expect(StoreError(error).code == .full)
    }
}
