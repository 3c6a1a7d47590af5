// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Limits how much a push sends, for example in the background. The other operations stay pending.
public struct PushBudget: Sendable, Hashable {
    /// The greatest number of operations to send; `nil` is no limit.
    public var operations: Int?
    /// How long the push may start operations. One that has started is finished. `nil` is no limit.
    public var duration: Duration?

    /// Makes a budget; without arguments, one without limits.
    public init(operations: Int? = nil, duration: Duration? = nil) {
        self.operations = operations
        self.duration = duration
    }
}
