// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One operation on its way through a push, as the delegate sees it.
public final class PushOperation: Sendable {
    /// The operation as it was when its turn came.
    public let operation: TableOperation

    private let sender: OperationSender
    private let state: Mutex<State>

    private struct State {
        var seen: SeenChange
        var item: Item?
        var isItemChanged = false
        var outcome: OperationSender.Outcome?
        var abort: (any Error)?
    }

    init(operation: TableOperation, item: Item?, sender: OperationSender) {
        self.operation = operation
        self.sender = sender
        let seen = SeenChange(kind: operation.kind, item: item)
        state = Mutex(State(seen: seen, item: item))
    }

    /// The item: as it will be sent; for a delete, as it was before.
    ///
    /// An item put here takes the place of the stored one when the operation is executed. The version that it
    /// carries is the one the change counts as made on: to overrule the server's row, give it that row's version.
    /// Fields that the user changes meanwhile stay the user's.
    public var item: Item? {
        get { state.withLock { $0.item } }
        set {
            state.withLock {
                $0.item = newValue
                $0.isItemChanged = true
            }
        }
    }

    /// Sends the operation and stores the result.
    ///
    /// - Returns: the item as it is stored now; `nil` after a delete.
    /// - Throws: ``TableOperationError`` when the server refuses, with its row if there is a conflict; another error
    ///   when the push has to end: it will, whatever the delegate does then.
    @discardableResult
    public func execute() async throws -> Item? {
        let (item, original) = state.withLock { ($0.isItemChanged ? $0.item : nil, $0.seen.item) }
        do {
            let outcome = note(
                try await sender.send(item: item, insteadOf: original) { change in
                    state.withLock { $0.seen = change }
                })
            switch outcome {
            case .completed(let item): return item
            case .failed(let error), .unconfirmed(let error): throw error
            case .skipped: return nil
            }
        } catch {
            if Self.endsPush(error) { state.withLock { $0.abort = error } }
            throw error
        }
    }

    /// Keeps what an execution came to. One after a success finds nothing left to send: the success stays.
    private func note(_ outcome: OperationSender.Outcome) -> OperationSender.Outcome {
        state.withLock { state in
            if case .completed = state.outcome, case .skipped = outcome {
                return state.outcome ?? outcome
            }
            state.outcome = outcome
            return outcome
        }
    }

    /// An item that cannot be sent is the delegate's to correct; without network, sign-in or store nothing goes on.
    private static func endsPush(_ error: any Error) -> Bool {
        switch error {
        case is TableOperationError: false
        case let error as SyncError: ![.invalidItem, .invalidItemID].contains(error.code)
        default: true
        }
    }

    /// Ends the push after this operation, which stays pending unless it was executed.
    public func cancelPush() {
        state.withLock {
            $0.abort = $0.abort ?? SyncError(.pushAbortedCancelled, "The push was cancelled by its delegate.")
        }
    }

    /// What the last execution came to; `nil` when there was none.
    var outcome: OperationSender.Outcome? { state.withLock { $0.outcome } }

    /// The change as the delegate last saw it.
    var seen: SeenChange { state.withLock { $0.seen } }

    /// Why the push has to end, if it has to.
    var abort: (any Error)? { state.withLock { $0.abort } }
}
