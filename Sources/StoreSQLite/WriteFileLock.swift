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

/// Gives the stores that share a file their turns to write, one at a time and without polling.
///
/// SQLite would keep the writers apart too, but before 3.51.3 a commit that meets another connection's checkpoint at
/// the wrong moment can damage the database. Within its turn a store both commits and checkpoints.
final class WriteFileLock: Sendable {
    /// `nil` once it was released.
    private let descriptor: Mutex<Int32?>

    /// Creates `PATH.write` with mode 0600 if it is not there.
    ///
    /// - Throws: ``StoreError/Code/cannotOpen``.
    init(storePath: String) throws(StoreError) {
        let path = storePath + ".write"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be created: \(String(cString: strerror(errno))).")
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    /// Closes the file. No turn may be running; none can be had any more.
    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { close(descriptor) }
            descriptor = nil
        }
    }

    /// Runs the body when it is this store's turn. Within a store, calls must already come one after another.
    func hold<T>(_ body: () throws -> T) throws -> T {
        guard let descriptor = descriptor.withLock({ $0 }) else {
            throw StoreError(.closed, "The store is closed.")
        }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                throw StoreError(.inputOutput, "The write lock failed: \(String(cString: strerror(errno))).")
            }
        }
        defer { flock(descriptor, LOCK_UN) }
        return try body()
    }
}
