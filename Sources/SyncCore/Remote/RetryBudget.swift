// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Token-bucket retry budget; prevents retry storms. Each retry spends tokens, and each success earns one.
final class RetryBudget: Sendable {
    private static let capacity = 500
    private static let cost = 5
    private let tokens = Mutex(capacity)

    /// Spends the tokens of one retry.
    ///
    /// - Returns: whether the budget had enough tokens.
    func spend() -> Bool {
        tokens.withLock { tokens in
            guard tokens >= Self.cost else { return false }
            tokens -= Self.cost
            return true
        }
    }

    /// Earns a token for a request that succeeded.
    func earn() { tokens.withLock { $0 = min($0 + 1, Self.capacity) } }
}
