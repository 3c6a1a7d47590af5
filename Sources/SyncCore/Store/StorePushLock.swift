// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The lock of the process that pushes the operations of a store: see ``SyncContextDataSource/tryLockPush()``.
public protocol StorePushLock: Sendable {
    /// Releases the lock. Releasing it again does nothing.
    func release()
}

/// The lock of a store that one process has open: the context runs one push at a time.
package struct UnsharedPushLock: StorePushLock {
    package init() {}

    package func release() {}
}
