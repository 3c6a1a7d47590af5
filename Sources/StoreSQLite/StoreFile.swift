// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) import SyncCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// The path of a database file that the store owns.
struct StoreFile {
    /// The absolute path, which SQLite cannot mistake for a URI or an in-memory database.
    let path: String

    /// Checks the path: a regular file or nothing, in an existing directory.
    ///
    /// - Throws: ``StoreError/Code/cannotOpen``.
    init(path: String) throws(StoreError) {
        guard !path.isEmpty, !path.utf8.contains(0), path != ":memory:" else {
            throw StoreError(.cannotOpen, "'\(path)' is not a valid file path.")
        }
        let url = URL(fileURLWithPath: path)
        self.path = url.path
        let directory = url.deletingLastPathComponent().path
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: directory, isDirectory: &isDirectory),
            isDirectory.boolValue
        else {
            throw .missingDirectory(directory)
        }
        try requireRegularFileOrNone()
    }

    private func requireRegularFileOrNone() throws(StoreError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw StoreError(
                .cannotOpen, "'\(path)' cannot be inspected: \(String(cString: strerror(errno))).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.cannotOpen, "'\(path)' is not a regular file.")
        }
    }

    /// SQLite takes a file of one byte for an empty one, and would overwrite it.
    private func requireNotOneByte() throws(StoreError) {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_size == 1 else { return }
        throw StoreError(
            .corrupt, "'\(path)' is not a store: it has one byte. Choose another path, or move the file away."
        )
    }

    /// Creates the file, empty and private, if none exists.
    ///
    /// - Throws: ``StoreError/Code/cannotOpen``; ``StoreError/Code/corrupt`` for a file of one byte.
    func create() throws(StoreError) {
        switch PrivateFile.create(at: path) {
        case 0: break
        case EEXIST:
            try requireRegularFileOrNone()
            try requireNotOneByte()
        case let error:
            throw StoreError(
                PrivateFile.code(of: error),
                "'\(path)' cannot be created: \(String(cString: strerror(error))).")
        }
    }
}
