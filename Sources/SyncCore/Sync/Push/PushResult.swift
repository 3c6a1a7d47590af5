// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How a push ended.
public struct PushResult: Sendable {
    /// How many operations the server has accepted, or was found to have accepted before.
    public internal(set) var completed = 0
    /// The operations that failed, in the order of the queue. They stay pending, and their errors in the error log.
    public internal(set) var errors: [TableOperationError] = []
    /// Why the push ended before the end of the queue, if it did.
    public internal(set) var abortReason: SyncError?
}

/// The cause of an error that a push throws: all that happened before.
public struct PushFailure: Error, Sendable, CustomStringConvertible {
    /// How the push ended.
    public let result: PushResult
    /// What went wrong, when it was not the operations themselves.
    public let underlying: (any Error)?

    /// One line for each operation that failed.
    public var description: String {
        let lines = result.errors.map {
            "\($0.kind) \($0.table)/\($0.itemID): \($0.message) (code \($0.code.rawValue))"
        }
        return (lines + [underlying.map { "\($0)" }].compactMap { $0 }).joined(separator: "\n")
    }
}

extension SyncError {
    /// How the push ended that threw this error; `nil` for other errors.
    public var pushResult: PushResult? { (cause as? PushFailure)?.result }
}
