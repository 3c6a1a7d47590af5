// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A lock that one of the processes with the same store holds: see ``SyncContextDataSource/tryLockPush()`` and
/// ``SyncContextDataSource/tryLockSync()``.
public protocol StorePushLock: Sendable {
    /// Releases the lock. Releasing it again does nothing.
    ///
    /// May block: like the calls of the store, it never runs on the threads of Swift's cooperative pool.
    func release()
}

/// A lock of a store that one process has open.
package struct UnsharedPushLock: StorePushLock {
    package init() {}

    package func release() {}
}
