// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension SyncEnvironment {
    /// No threads, no time and no chance: every store call runs at once where it was made.
    static var inline: SyncEnvironment {
        SyncEnvironment(
            now: { .unixEpoch }, sleep: { _ in try Task.checkCancellation() }, random: { 0 },
            executor: InlineExecutor())
    }
}

/// Runs a store's work where it was asked for, which is fit for stores that do not block.
private struct InlineExecutor: StoreExecutor {
    func read(_ work: @escaping @Sendable () -> Void) { work() }
    func write(_ work: @escaping @Sendable () -> Void) { work() }
}
