// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The lock of the process that syncs a shared store by itself.
struct SyncLock {
    private let context: SyncContext
    private var held: (any StorePushLock)?

    init(of context: SyncContext) { self.context = context }

    /// Acquires the lock without waiting. Returns whether this process holds it.
    mutating func acquire() async throws -> Bool {
        if held == nil { held = try await context.tryLockSync() }
        return held != nil
    }

    /// Releases the lock, so that another process can sync.
    mutating func release() async {
        guard let held else { return }
        self.held = nil
        await context.release(held)
    }
}
