// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One operation of a running push, for the delegate.
public final class PushOperation: Sendable {
    /// The operation as it was when the delegate was called.
    public let operation: TableOperation

    private let sender: OperationSender
    private let state: Mutex<State>
    /// Held by an execution: an operation is sent by one at a time.
    private let executions = AsyncMutex()

    private struct State {
        var seen: SeenChange
        /// The item before the delegate's changes.
        var original: Item?
        var item: Item?
        var isItemChanged = false
        var result: OperationSender.Result?
        /// Whether the last execution has ended without a result, because it was cancelled or the push ends.
        var isInterrupted = false
        var pushEnding: (any Error)?
        /// Whether the delegate has returned.
        var isOver = false

        /// Whether the last execution has shown the delegate the server's row.
        var knowsServerItem: Bool {
            if case .failed(let error) = result { error.serverItem != nil } else { false }
        }
    }

    init(operation: TableOperation, item: Item?, sender: OperationSender) {
        self.operation = operation
        self.sender = sender
        let seen = SeenChange(kind: operation.kind, item: item)
        state = Mutex(State(seen: seen, original: item, item: item))
    }

    /// The item to send; for a delete, the item before it.
    ///
    /// An item that is set here replaces the stored one when the operation is executed. If the item has a
    /// version, the change is treated as made on that version: to overwrite the server's row, set that row's
    /// version. Fields that the user changes at the same time keep the user's values.
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
    /// An execution waits for one that was called before. The push waits for one that is running when the delegate returns.
    ///
    /// - Returns: the item as it is stored now; `nil` after a delete, or when the operation no longer has to be sent.
    /// - Throws: ``TableOperationError`` when the operation fails, with the server's row in a conflict;
    ///   ``SyncError/Code/invalidItem`` or ``SyncError/Code/invalidItemID`` for an ``item`` that cannot be sent;
    ///   ``SyncError/Code/invalidOperation`` after the delegate has returned; `CancellationError` when the task is cancelled,
    ///   for example by a time limit of the delegate. Any other error ends the push, also if the delegate catches it.
    @discardableResult
    public func execute() async throws -> Item? {
        do {
            return try await executions.withLock {
                guard !state.withLock(\.isOver) else {
                    throw SyncError(
                        .invalidOperation, "The operation cannot be executed after the delegate has returned."
                    )
                }
                return try await executeAlone()
            }
        } catch let error as CancellationError {
            // The execution may not have begun.
            state.withLock { $0.isInterrupted = true }
            throw error
        }
    }

    private func executeAlone() async throws -> Item? {
        let original = state.withLock(\.original)
        let substitute = state.withLock { state in
            defer { state.original = state.item }
            return state.isItemChanged
                ? state.item.map {
                    DelegateItem(item: $0, original: state.original, knowsServerItem: state.knowsServerItem)
                } : nil
        }
        do {
            let result = record(
                try await sender.send(substitute) { change in state.withLock { $0.seen = change } })
            switch result {
            case .completed(let item): return item
            case .failed(let error), .unconfirmed(let error), .held(let error, _): throw error
            case .skipped: return nil
            }
        } catch let error as SyncError where [.invalidItem, .invalidItemID].contains(error.code) {
            // Nothing was stored.
            state.withLock { $0.original = original }
            throw error
        } catch {
            if PushEnding.isEnding(error) { state.withLock { $0.pushEnding = error } }
            if !(error is TableOperationError) { state.withLock { $0.isInterrupted = true } }
            throw error
        }
    }

    /// Records the result of an execution. A later execution finds nothing to send and does not replace a success.
    private func record(_ result: OperationSender.Result) -> OperationSender.Result {
        state.withLock { state in
            if case .completed = state.result, case .skipped = result { return state.result ?? result }
            state.result = result
            state.isInterrupted = false
            return result
        }
    }

    /// Ends the push after this operation, which stays pending unless it was executed.
    public func cancelPush() {
        state.withLock { $0.pushEnding = $0.pushEnding ?? PushEnding.cancelledByDelegate }
    }

    /// Ends the delegate's work on the operation: waits for an execution for which the delegate has not waited.
    func end() async {
        state.withLock { $0.isOver = true }
        await executions.waitForEarlierCallers()
    }

    /// The result of the last execution; `nil` when there was none.
    var result: OperationSender.Result? { state.withLock { $0.result } }

    /// Whether the last execution has ended without a result.
    var isInterrupted: Bool { state.withLock { $0.isInterrupted } }

    /// The change as the delegate last saw it.
    var seen: SeenChange { state.withLock { $0.seen } }

    /// Why the push ends; `nil` when it goes on.
    var pushEnding: (any Error)? { state.withLock { $0.pushEnding } }
}
