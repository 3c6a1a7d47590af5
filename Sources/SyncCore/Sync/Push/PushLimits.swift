// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The budget of one push with its deadline.
struct PushLimits: Sendable {
    private let operations: Int?
    private let deadline: Timestamp?

    init(_ budget: PushBudget, now: Timestamp) {
        operations = budget.operations
        deadline = budget.duration.map { now.advanced(by: $0) }
    }

    /// Whether no further operation may begin.
    func areReached(operations count: Int, now: @autoclosure () -> Timestamp) -> Bool {
        if let operations, count >= operations { return true }
        return deadline.map { !now().isEarlier(than: $0) } ?? false
    }
}
