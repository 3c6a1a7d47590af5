// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What the one process holds that pushes the operations of a store: see ``SyncContextDataSource/tryLockPush()``.
public protocol StorePushLock: Sendable {
    /// Releases the lock. Releasing again does nothing.
    func release()
}

/// The lock of a store that only one process has open: the context itself pushes one thing at a time.
package struct UnsharedPushLock: StorePushLock {
    package init() {}

    package func release() {}
}

extension StoreFileLock: StorePushLock {}
