// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One operation's turn in a push, with the delegate's part in it.
struct Turn: Sendable {
    let operationID: Int64
    let end: End
    /// Why the push has to end, if it has to.
    private(set) var abort: (any Error)?

    /// What became of the operation.
    enum End: Sendable {
        case completed
        /// It is complete, and the delegate threw an error afterwards.
        case completedWithError(TableOperationError)
        case failed(TableOperationError)
        /// The service did not confirm it.
        case unconfirmed(TableOperationError)
        /// It was not its turn yet.
        case skipped
        /// The delegate did not execute it.
        case untouched
    }

    /// Carries out one operation, from its place in the lane.
    static func take(
        _ operation: TableOperation, at place: AsyncSemaphore.Place, in context: SyncContext,
        _ serverErrors: ServerErrorStreak
    ) async -> Turn {
        var turn = await perform(operation, at: place, in: context, serverErrors)
        turn.abort = turn.abort ?? serverErrors.note(turn.end)
        place.leave(ending: turn.abort != nil)
        return turn
    }

    private static func perform(
        _ operation: TableOperation, at place: AsyncSemaphore.Place, in context: SyncContext,
        _ serverErrors: ServerErrorStreak
    ) async -> Turn {
        do {
            guard let definition = try? context.definition(of: operation.table) else {
                return Turn(operation, end: .failed(try await recordUndeclaredTable(operation, in: context)))
            }
            let delegate = context.delegate
            // A delegate has its last word on the result before the next operation begins.
            let sender = OperationSender(
                context: context, definition: definition, operationID: operation.id,
                place: delegate == nil ? place : nil, serverErrors: serverErrors)
            guard let delegate else { return Turn(operation, end: End(try await sender.send())) }
            return try await take(operation, sender: sender, delegate: delegate)
        } catch {
            return Turn(operation, end: .untouched, abort: error)
        }
    }

    /// A queue may outlive a table; its operations wait until the table is declared again.
    private static func recordUndeclaredTable(
        _ operation: TableOperation, in context: SyncContext
    ) async throws -> TableOperationError {
        let error = TableOperationError.undeclaredTable(operation)
        let isRecorded = try await context.read { try $0.operationError(operationID: operation.id) == error }
        if !isRecorded { try await context.record(error) }
        return error
    }

    private static func take(
        _ operation: TableOperation, sender: OperationSender, delegate: any SyncContextDelegate
    ) async throws -> Turn {
        let context = sender.context
        let found = try await context.read { snapshot in
            (
                try snapshot.operation(id: operation.id),
                try snapshot.item(id: operation.itemID, in: operation.table)
            )
        }
        guard let current = found.0 else { return Turn(operation, end: .untouched) }
        let handle = PushOperation(operation: current, item: found.1 ?? current.deletedItem, sender: sender)
        do {
            guard let item = try await delegate.syncContext(context, perform: handle) else {
                return Turn(operation, end: handle.outcome.map(End.init) ?? .untouched, abort: handle.abort)
            }
            if case .skipped = handle.outcome { return Turn(operation, end: .skipped, abort: handle.abort) }
            try await sender.store(item, for: handle.seen, after: handle.outcome)
            return Turn(operation, end: .completed, abort: handle.abort)
        } catch {
            return try await end(operation, handle, sender, throwing: error)
        }
    }

    /// What a delegate throws becomes the operation's error, unless it is the one that was recorded already.
    private static func end(
        _ operation: TableOperation, _ handle: PushOperation, _ sender: OperationSender,
        throwing error: any Error
    ) async throws -> Turn {
        // The delegate may have cancelled work of its own: only a cancelled push ends as cancelled.
        if Task.isCancelled { throw CancellationError() }
        if case .completed(let item) = handle.outcome {
            let failure = TableOperationError(operation, item: item, delegateError: error)
            return Turn(operation, end: .completedWithError(failure), abort: handle.abort)
        }
        if let abort = handle.abort { return Turn(operation, end: .untouched, abort: abort) }
        if let recorded = error as? TableOperationError, let outcome = handle.outcome {
            return Turn(operation, end: outcome.isRecorded(as: recorded) ? End(outcome) : .failed(recorded))
        }
        let recorded = try await sender.record(error)
        return Turn(operation, end: recorded.map(End.failed) ?? .untouched)
    }

    private init(_ operation: TableOperation, end: End, abort: (any Error)? = nil) {
        operationID = operation.id
        self.end = end
        self.abort = abort
    }
}

extension Turn.End {
    fileprivate init(_ outcome: OperationSender.Outcome) {
        self =
            switch outcome {
            case .completed: .completed
            case .failed(let error): .failed(error)
            case .unconfirmed(let error): .unconfirmed(error)
            case .skipped: .skipped
            }
    }
}

extension OperationSender.Outcome {
    fileprivate func isRecorded(as error: TableOperationError) -> Bool {
        switch self {
        case .failed(let recorded), .unconfirmed(let recorded): recorded == error
        case .completed, .skipped: false
        }
    }
}
