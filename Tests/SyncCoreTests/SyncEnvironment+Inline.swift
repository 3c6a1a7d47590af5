// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension SyncEnvironment {
    /// A deterministic environment: a fixed clock, no delays, no randomness, and store calls on the calling thread.
    static var inline: SyncEnvironment {
        SyncEnvironment(
            now: { .unixEpoch }, sleep: { _ in try Task.checkCancellation() }, random: { 0 },
            executor: InlineExecutor())
    }
}

/// Runs a store's work on the calling thread; for stores that do not block.
private struct InlineExecutor: StoreExecutor {
    func read(_ work: @escaping @Sendable () -> Void) { work() }
    func write(_ work: @escaping @Sendable () -> Void) { work() }
}
