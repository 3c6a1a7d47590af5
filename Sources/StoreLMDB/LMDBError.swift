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

/// A result code of LMDB, the cause of a ``StoreError``.
struct LMDBError: Error, CustomStringConvertible {
    let code: Int32

    static func check(_ code: Int32) throws(LMDBError) {
        guard code == MDB_SUCCESS else { throw LMDBError(code: code) }
    }

    var description: String { String(cString: mdb_strerror(code)) }

    var isMapFull: Bool { code == MDB_MAP_FULL }

    /// Whether LMDB refuses all transactions until the file is opened again.
    var isFatal: Bool { code == MDB_PANIC }

    /// Whether the disk, the quota or the greatest size of a file is exhausted.
    var isDiskFull: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

    /// The store error for a failure while reading or writing.
    var storeError: StoreError {
        switch code {
        case MDB_MAP_FULL, MDB_TXN_FULL, ENOSPC, EDQUOT, EFBIG:
            StoreError(
                .full, "The store or its disk is full; free some space or raise maximumSize.", cause: self)
        case MDB_READERS_FULL:
            StoreError(.inputOutput, "Too many reads are running; raise maxReaders.", cause: self)
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_VERSION_MISMATCH, MDB_INCOMPATIBLE:
            StoreError(
                .corrupt,
                """
                The LMDB file is damaged or was truncated. Close the store, then restore a copy of the file, or move it \
                away and pull again.
                """, cause: self)
        default:
            StoreError(.inputOutput, "LMDB cannot read or write the store.", cause: self)
        }
    }

    /// The store error for a failure while opening the file.
    func storeError(opening path: String) -> StoreError {
        switch code {
        case MDB_INVALID, MDB_VERSION_MISMATCH, MDB_CORRUPTED, MDB_INCOMPATIBLE:
            StoreError(.corrupt, "'\(path)' is damaged or is not an LMDB file.", cause: self)
        case _ where isDiskFull:
            StoreError(.full, "The disk of '\(path)' is full; free some space.", cause: self)
        default:
            StoreError(
                .cannotOpen, "'\(path)' cannot be opened. Check its directory and permissions.", cause: self)
        }
    }
}

extension StoreError {
    /// The error of a commit that may be on the drive.
    static func unconfirmedCommit(cause: LMDBError) -> StoreError {
        StoreError(
            .outcomeUnknown, "The drive has not confirmed the change, which may be stored or not.",
            cause: cause)
    }
}
