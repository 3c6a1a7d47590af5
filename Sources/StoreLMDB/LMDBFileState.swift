// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
#if canImport(CDispatch)
    // On Linux the compiler finds `stat` in this module or in Glibc.
    import CDispatch
#endif

/// What the file system says of a file. A change of the content changes it, unless the clock of the file system has not
/// advanced since the last change.
struct LMDBFileState: Equatable {
    let size: Int
    private let device: UInt64
    private let node: UInt64
    private let modified: Time
    /// When the content or a property was changed. Programs that copy a file with its times cannot set it.
    private let changed: Time

    private struct Time: Equatable {
        let seconds: Int64
        let nanoseconds: Int64

        init(_ time: timespec) { (seconds, nanoseconds) = (Int64(time.tv_sec), Int64(time.tv_nsec)) }
    }

    /// The state of an open file.
    init(of descriptor: Int32) throws(LMDBError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        #if canImport(Darwin)
            (modified, changed) = (Time(status.st_mtimespec), Time(status.st_ctimespec))
        #else
            (modified, changed) = (Time(status.st_mtim), Time(status.st_ctim))
        #endif
        size = Int(status.st_size)
        device = UInt64(truncatingIfNeeded: status.st_dev)
        node = UInt64(truncatingIfNeeded: status.st_ino)
    }
}

/// The state of a store's file after its last commit, stored in `PATH.lock`.
///
/// A file in this state is as LMDB has written it, so its structure need not be checked. When another program has changed or
/// replaced the file, the states differ; so they usually do after a power loss, because the state is not synced to the disk.
struct LMDBCommittedState {
    let lock: StoreFileLock

    /// Returns whether this state was recorded last.
    func isRecorded(_ file: LMDBFileState) -> Bool {
        var recorded = file
        let count = lock.withFile { descriptor in
            withUnsafeMutableBytes(of: &recorded) { pread(descriptor, $0.baseAddress, $0.count, 0) }
        }
        return count == MemoryLayout<LMDBFileState>.size && recorded == file
    }

    /// Records the state after a commit. If this fails, the next opening checks the file.
    func record(_ state: LMDBFileState) {
        _ = lock.withFile { descriptor in
            withUnsafeBytes(of: state) { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
        }
    }
}
