// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Serializes the writes of stores that share a file, without polling.
///
/// SQLite also serializes writers, but before 3.51.3 a commit that races with another connection's checkpoint can
/// damage the database. A store commits and checkpoints while it holds this lock.
final class WriteFileLock: Sendable {
    /// `nil` after release.
    private let descriptor: Mutex<Int32?>

    /// Opens `PATH.write`; creates it with mode 0600 if it does not exist.
    ///
    /// - Throws: ``StoreError/Code/cannotOpen``.
    init(storePath: String) throws(StoreError) {
        let path = storePath + ".write"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let error = errno
            throw StoreError(
                PrivateFile.code(of: error),
                "'\(path)' cannot be created: \(String(cString: strerror(error))).")
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Closes the file. No body may be running; later calls of `withLock` throw.
    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
            descriptor = nil
        }
    }

    /// Runs the body while this store holds the lock. Calls within one store must be serialized by the caller.
    func withLock<T>(_ body: () throws -> T) throws -> T {
        guard let descriptor = descriptor.withLock({ $0 }) else {
            throw StoreError(.closed, "The store is closed.")
        }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw StoreError(
                    .inputOutput, "The write lock cannot be acquired: \(String(cString: strerror(errno))).")
            }
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }
}
