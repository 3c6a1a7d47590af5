// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The file of a store that the store opens by itself.
struct StoreFile {
    /// The absolute path, so that SQLite takes it for neither a URI nor a database in memory.
    let path: String

    /// Looks at what is at the path: a regular file, or nothing yet in a directory that exists.
    ///
    /// - Throws: ``StoreError/Code/cannotOpen``.
    init(path: String) throws(StoreError) {
        guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be the path of a store's file.")
        }
        let url = URL(fileURLWithPath: path)
        self.path = url.path
        let directory = url.deletingLastPathComponent().path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory),
            isDirectory.boolValue
        else {
            throw StoreError(.cannotOpen, "There is no directory '\(directory)'; create it first.")
        }
        try requireRegularFileOrNone()
    }

    private func requireRegularFileOrNone() throws(StoreError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw StoreError(
                .cannotOpen, "'\(path)' cannot be looked at: \(String(cString: strerror(errno))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.cannotOpen, "'\(path)' is not a regular file.")
        }
    }

    /// Creates the file empty, for its owner alone, if it is not there. SQLite gives the files beside it the same mode.
    ///
    /// A file that is there is not opened here: closing it again would drop the locks that SQLite may hold on it.
    func create() throws(StoreError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno == EEXIST {
            try requireRegularFileOrNone()
        } else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be created: \(String(cString: strerror(errno))).")
        }
    }
}
