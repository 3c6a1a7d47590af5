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

/// Checks the file of a store, syncs its directory and allocates its lock file; LMDB itself does none of these.
struct LMDBFile {
    let path: String

    /// Returns the size of the file, or 0 when it does not exist.
    ///
    /// - Throws: ``StoreError/Code/cannotOpen`` when the path is not a regular file, or its directory does not exist.
    func size() throws(StoreError) -> Int {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.cannotOpen, "'\(path)' is not a valid file path.")
        }
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw .missingDirectory(directory)
        }
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return 0 }
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened: \(String(cString: strerror(errno))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened: it is not a regular file.")
        }
        return Int(status.st_size)
    }

    /// Creates the lock file of LMDB if it does not exist, and allocates its disk space. Call it before LMDB opens the file:
    /// closing a descriptor releases the process's locks on the file.
    ///
    /// LMDB extends the file without allocating space, and writes to it through a mapping. Linux ends a process that does so
    /// on a full disk. The size and the content of the file do not change, because another process may be using it.
    func allocateLockFile(maxReaders: Int) throws(LMDBError) {
        let descriptor = open(path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw LMDBError(code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        // LMDB uses less than 1024 bytes for the header, and 64 bytes for each reader. More than 16384 reads hardly run at
        // once, so the rest of a larger file remains without space.
        let size = 1024 + 64 * min(maxReaders, 16384)
        if 512 * Int(status.st_blocks) < size { try DiskSpace(descriptor: descriptor).allocate(size) }
    }

    /// Removes the content of a new file that LMDB could not write completely, and would not open again.
    func removeContent() { truncate(path, 0) }

    /// Makes the directory entry of a new file durable; LMDB syncs only its content.
    func syncDirectory() throws(StoreError) {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StoreError(
                .inputOutput, "The directory of '\(path)' cannot be synced to disk.",
                cause: LMDBError(code: errno))
        }
    }

    private var directory: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
