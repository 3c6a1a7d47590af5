// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLMDB
import SyncCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// What LMDB answered when it failed: the cause of a ``StoreError``.
struct LMDBError: Error, CustomStringConvertible {
    let code: Int32

    static func check(_ code: Int32) throws(LMDBError) {
        guard code == MDB_SUCCESS else { throw LMDBError(code: code) }
    }

    var description: String { String(cString: mdb_strerror(code)) }

    var isMapFull: Bool { code == MDB_MAP_FULL }

    /// This failure as the store reports it, while it reads or writes.
    var storeError: StoreError {
        switch code {
        case MDB_MAP_FULL, MDB_TXN_FULL, ENOSPC, EDQUOT, EFBIG:
            StoreError(.full, "There is no room left in the store or on its disk.", cause: self)
        case MDB_READERS_FULL:
            StoreError(.inputOutput, "Too many reads run at once.", cause: self)
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_VERSION_MISMATCH, MDB_INCOMPATIBLE:
            StoreError(.corrupt, "The store is damaged.", cause: self)
        default:
            StoreError(.inputOutput, "The store cannot be read or written.", cause: self)
        }
    }

    /// This failure as the store reports it, while it opens the file.
    func storeError(opening path: String) -> StoreError {
        switch code {
        case MDB_INVALID, MDB_VERSION_MISMATCH, MDB_CORRUPTED, MDB_INCOMPATIBLE:
            StoreError(.corrupt, "'\(path)' is not an LMDB file, or is damaged.", cause: self)
        case ENOSPC, EDQUOT, EFBIG:
            StoreError(.full, "There is no room for '\(path)' on its disk.", cause: self)
        default:
            StoreError(.cannotOpen, "'\(path)' cannot be opened.", cause: self)
        }
    }
}
