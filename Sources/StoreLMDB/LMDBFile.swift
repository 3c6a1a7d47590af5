// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file of a store, before and after LMDB has it.
struct LMDBFile {
    let path: String

    /// The size of the file, 0 when there is none yet.
    ///
    /// - Throws: ``StoreError/Code/cannotOpen`` when the path leads to something else, or its directory to nothing.
    func size() throws(StoreError) -> Int {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be the path of a file.")
        }
        var status = stat()
        guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened: its directory does not exist.")
        }
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return 0 }
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened: \(String(cString: strerror(errno))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened: it is not a file.")
        }
        return Int(status.st_size)
    }

    /// Makes the name of a new file survive a lost power supply, as LMDB does for its content.
    func syncDirectory() throws(StoreError) {
        let descriptor = open(directory, O_RDONLY | O_CLOEXEC)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw StoreError(
                .inputOutput, "The directory of '\(path)' cannot be written.", cause: LMDBError(code: errno))
        }
    }

    private var directory: String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
