// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CLMDB

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The disk space for an open file.
struct DiskSpace {
    let descriptor: Int32

    /// Allocates the first `count` bytes of the file, without changing its size or its content.
    ///
    /// Has no effect on file systems that cannot allocate.
    ///
    /// - Throws: when the disk is full.
    func allocate(_ count: Int) throws(LMDBError) {
        while !tryAllocating(count) {
            let error = LMDBError(code: errno)
            if error.isDiskFull { throw error }
            guard error.code == EINTR else { return }
        }
    }

    private func tryAllocating(_ count: Int) -> Bool {
        #if canImport(Darwin)
            // Without the flag to persist, the system frees the space when the file is closed.
            var space = fstore_t(
                fst_flags: UInt32(F_ALLOCATEALL | F_ALLOCATEPERSIST), fst_posmode: F_PEOFPOSMODE,
                fst_offset: 0, fst_length: off_t(count), fst_bytesalloc: 0)
            return fcntl(descriptor, F_PREALLOCATE, &space) != -1
        #else
            let keepsSize: Int32 = 1  // FALLOC_FL_KEEP_SIZE
            return fallocate(descriptor, keepsSize, 0, off_t(count)) == 0
        #endif
    }

    /// Whether the disk is full, or the file has the greatest size that this process may write.
    var isExhausted: Bool { isDiskFull || isAtSizeLimit }

    /// A file system may refuse a write although some blocks are free, so this is true for less than 1 MiB too.
    private var isDiskFull: Bool {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return false }
        return Double(status.f_bavail) * Double(status.f_frsize) < Double(1 << 20)
    }

    private var isAtSizeLimit: Bool {
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
        #else
            let resource = RLIMIT_FSIZE
        #endif
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0, let file = try? LMDBFileState(of: descriptor) else {
            return false
        }
        return UInt64(file.size) >= UInt64(limit.rlim_cur)
    }
}
