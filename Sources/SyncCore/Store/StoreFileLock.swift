// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Keeps a store's file to one owner, or to owners that share it: any other opening, by this process or another,
/// is refused.
///
/// The lock is on a file of its own beside the store, so that the database's own locks are not disturbed. The
/// system releases it when the process ends, however it ends; the empty file stays.
public final class StoreFileLock: Sendable {
    private let descriptor: Mutex<Int32?>

    /// Takes the lock of the store at that path, creating `PATH.lock` with mode 0600 if it is not there.
    ///
    /// - Parameter isShared: whether others may hold the lock at the same time, if they share it too.
    /// - Throws: ``StoreError/Code/alreadyOpen`` when the store is open elsewhere,
    ///   ``StoreError/Code/cannotOpen`` when the lock file cannot be made.
    public init(storePath: String, isShared: Bool = false) throws(StoreError) {
        guard !storePath.utf8.contains(0), !storePath.isEmpty else {
            throw StoreError(.cannotOpen, "'\(storePath)' cannot be the path of a file.")
        }
        let path = storePath + ".lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be created: \(Self.reason()).")
        }
        guard flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            let isTaken = errno == EWOULDBLOCK
            let reason = Self.reason()
            close(descriptor)
            throw isTaken
                ? StoreError(
                    .alreadyOpen,
                    "'\(storePath)' is already open, here or in another program; close it there first.")
                : StoreError(.cannotOpen, "'\(path)' cannot be locked: \(reason).")
        }
        self.descriptor = Mutex(descriptor)
    }

    /// Gives the lock back. Releasing again does nothing.
    public func release() {
        let held = descriptor.withLock { held in
            defer { held = nil }
            return held
        }
        guard let held else { return }
        // A process that was being started meanwhile has the descriptor too, until it runs its program: closing alone
        // would leave the lock with it for that long.
        flock(held, LOCK_UN)
        close(held)
    }

    deinit { release() }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
