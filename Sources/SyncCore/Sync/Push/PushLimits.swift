// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The budget of one push with its deadline.
struct PushLimits: Sendable {
    private let operations: Int?
    /// In the uptime of the environment.
    private let deadline: Duration?

    init(_ budget: PushBudget, uptime: Duration) {
        operations = budget.operations
        // The sum of two durations must not overflow.
        deadline = budget.duration.map { uptime + min($0, .seconds(1 << 40 as Int64)) }
    }

    /// Whether no further operation may begin.
    func areReached(operations count: Int, uptime: @autoclosure () -> Duration) -> Bool {
        if let operations, count >= operations { return true }
        return isTimeOver(uptime: uptime())
    }

    /// Whether the deadline has passed.
    func isTimeOver(uptime: @autoclosure () -> Duration) -> Bool {
        deadline.map { uptime() >= $0 } ?? false
    }
}
