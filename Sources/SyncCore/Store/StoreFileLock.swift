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

/// An exclusive or shared lock on a store's file: it prevents this and other processes from opening the store again.
///
/// The locked file is `PATH.lock` beside the store, so that it does not interfere with the locks of the database. The
/// system releases the lock when the process ends or crashes; the file remains.
@_spi(StoreAuthor)
public final class StoreFileLock: StorePushLock {
    private let descriptor: Mutex<Int32?>

    /// Acquires the lock of the store at that path. Creates `PATH.lock` with mode 0600 if it does not exist.
    ///
    /// - Parameters:
    ///   - isShared: whether other shared locks can be held at the same time.
    ///   - advice: the sentence of ``StoreError/Code/alreadyOpen`` that says what to do.
    /// - Throws: ``StoreError/Code/alreadyOpen`` when the store is open elsewhere,
    ///   ``StoreError/Code/cannotOpen`` when the lock file cannot be created, ``StoreError/Code/full`` for lack of space.
    public init(
        storePath: String, isShared: Bool = false, advice: String = "Close it there first."
    ) throws(StoreError) {
        guard !storePath.utf8.contains(0), !storePath.isEmpty else {
            throw StoreError(.cannotOpen, "'\(storePath)' is not a valid path.")
        }
        let path = storePath + ".lock"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(
                PrivateFile.code(of: errno), "'\(path)' cannot be created: \(Self.reason()).")
        }
        guard flock(descriptor, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            let reason = Self.reason()
            close(descriptor)
            throw isHeld
                ? StoreError(
                    .alreadyOpen, "'\(storePath)' is already open in this or another process. \(advice)")
                : StoreError(.cannotOpen, "'\(path)' cannot be locked: \(reason).")
        }
        self.descriptor = Mutex(descriptor)
    }

    /// Calls the body with the descriptor of the lock's file, in which a store can keep a few bytes. Returns `nil` after
    /// the lock was released.
    public func withFile(_ body: (Int32) -> Int) -> Int? {
        descriptor.withLock { descriptor in descriptor.map { body($0) } }
    }

    /// Releases the lock. Releasing it again does nothing.
    public func release() {
        let held = descriptor.withLock { held in
            defer { held = nil }
            return held
        }
        guard let held else { return }
        // A child process inherits the descriptor between fork and exec, so closing alone would not release the lock.
        flock(held, LOCK_UN)
        close(held)
    }

    deinit { release() }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
