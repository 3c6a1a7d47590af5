// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a push ended.
public struct PushResult: Sendable {
    /// The number of completed operations: the server has applied them now or in an earlier attempt, or a resolver or the
    /// delegate has decided for the server's row.
    public internal(set) var completed = 0
    /// The errors of operations that failed, or that wait for a decision or for another operation, in queue order. Earlier
    /// pushes may have recorded them. The operations stay pending, except one whose delegate threw an error after its
    /// completion.
    public internal(set) var errors: [TableOperationError] = []
    /// The error that ended the push before the end of the queue, if any.
    public internal(set) var abortReason: SyncError?
    /// Whether the server has refused an operation of this push, or reported a conflict.
    package internal(set) var hasRefusals = false
    /// Whether what ended the push before the end of the queue may be about its operation only.
    var endedByOperation = false
    /// Whether an operation has no answer, or requires a sign-in, and nothing has shown that the server answers others.
    package internal(set) var mayBeOutage = false
    /// Whether the server has required a sign-in, and further pushes can show that it does so for one change only.
    package internal(set) var mayBeUnauthorizedChange = false
    /// Whether the budget permitted the push to reach the end of the queue.
    package internal(set) var hasReachedEnd = false

    /// Makes the result of a push that has completed that many operations.
    package init(completed: Int = 0, abortReason: SyncError? = nil) {
        self.completed = completed
        self.abortReason = abortReason
    }

    /// Returns the result with this reason for its end.
    package func aborted(by reason: SyncError) -> PushResult {
        var result = self
        result.abortReason = reason
        return result
    }
}

/// The cause of an error that a push throws, with the result until then.
public struct PushFailure: Error, Sendable, CustomStringConvertible {
    /// How the push ended.
    public let result: PushResult
    /// The cause of the error that ended the push, such as a ``NetworkFailure`` or a ``StoreError``, or that error if it has
    /// none; `nil` if the push reached the end of the queue.
    public let underlying: (any Error)?

    /// One line for each operation that failed.
    public var description: String {
        let lines = result.errors.map(\.description)
        return (lines + [underlying?.textWithoutURL].compactMap(\.self)).joined(separator: "\n")
    }
}

extension SyncError {
    /// The result of the push that threw this error; `nil` for other errors.
    public var pushResult: PushResult? { (cause as? PushFailure)?.result }
}
