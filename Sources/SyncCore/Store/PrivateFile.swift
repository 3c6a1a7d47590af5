// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that other users of the machine cannot read.
package enum PrivateFile {
    /// The code of the error that a file cannot be created for this reason, an error number.
    package static func code(of error: CInt) -> StoreError.Code {
        [ENOSPC, EDQUOT].contains(error) ? .full : .cannotOpen
    }

    /// Creates an empty file with mode 0600 if none exists. SQLite copies the mode to the files beside it.
    ///
    /// Does not open an existing file: closing it would release the POSIX locks that SQLite holds on it.
    ///
    /// - Returns: 0, or the error number; `EEXIST` if the file, or another object, exists.
    package static func create(at path: String) -> CInt {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return 0
    }
}
