// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A pending operation that the next push does not send, or whose requests depend on the server's row.
struct UnsentOperation: Sendable, Encodable {
    /// Why the operation is not sent.
    enum Reason: String, Sendable, Encodable {
        case parked, behind, held, conflict, readsRowFirst, undeclaredTable, failed, nothingToSend, unreadable
    }

    /// The id of the operation.
    let operation: Int64
    let reason: Reason
    let explanation: String

    /// - Parameters:
    ///   - first: the first operation of the same item that is not sent either.
    ///   - isRead: whether the push reads the server's row.
    ///   - error: the error that the push reports.
    ///   - problem: why the item cannot be read; `nil` if it can be.
    init(
        _ operation: TableOperation, behind first: TableOperation?, isRead: Bool, error: TableOperationError?,
        unreadable problem: String?
    ) {
        self.operation = operation.id
        switch operation.state {
        case _ where problem != nil:
            reason = .unreadable
            explanation = problem ?? ""
        case .parked:
            reason = .parked
            explanation =
                "The server refused it \(operation.refusals) times: edit the item, or resolve or replay the operation."
        case _ where first != nil:
            reason = .behind
            explanation = "It waits for operation \(first?.id ?? 0) of the same item."
        case _ where isRead:
            reason = .readsRowFirst
            explanation = "The push reads the server's row first. What it sends depends on that row."
        default:
            reason = Reason(error)
            explanation = error?.message ?? "The item has no change that the server does not have."
        }
    }
}

extension UnsentOperation.Reason {
    fileprivate init(_ error: TableOperationError?) {
        self =
            switch error?.code {
            case nil: .nothingToSend
            case .operationHeld: .held
            case .unknownTable: .undeclaredTable
            case _ where error?.isConflict == true: .conflict
            default: .failed
            }
    }
}
