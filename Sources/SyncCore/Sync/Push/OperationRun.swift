// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Runs one operation of a push under a permit, through the delegate if there is one.
struct OperationRun: Sendable {
    let operation: TableOperation
    let context: SyncContext
    let permit: AsyncSemaphore.Permit
    let limits: PushLimits
    let serverErrors: ServerErrorStreak

    /// How a run has ended.
    struct Result: Sendable {
        let operation: TableOperation
        let outcome: Outcome
        /// Why the push ends; `nil` when it goes on.
        fileprivate(set) var pushEnding: (any Error)?
        /// Whether it is known that the delegate has made no request without its handle: it was not called, has returned `nil`, or
        /// has thrown the error of an execution.
        fileprivate(set) var isUnperformed = false
    }

    /// What has happened to the operation.
    enum Outcome: Sendable {
        case completed
        /// The operation is complete, and the delegate threw an error afterwards.
        case completedWithError(TableOperationError)
        case failed(TableOperationError)
        /// The service did not confirm the operation.
        case unconfirmed(TableOperationError)
        /// Nothing was sent, because an operation of another item has to be sent first.
        case held(TableOperationError, by: TableOperation)
        /// Nothing was sent, because another operation precedes this one; or the operation no longer exists,
        /// possibly after a request: see ``OperationSender/Result/skipped``.
        case skipped
        /// The delegate did not execute the operation, the operation no longer exists, or the push ends.
        case notExecuted
    }

    /// Runs the operation and releases the permit.
    func run() async -> Result {
        var result: Result
        do {
            result = try await execute()
        } catch {
            result = ended(.notExecuted, pushEnding: error)
        }
        result.pushEnding = result.pushEnding ?? serverErrors.record(result.outcome)
        permit.release(closing: result.pushEnding != nil)
        return result
    }

    private func execute() async throws -> Result {
        guard let definition = try? context.definition(of: operation.table) else {
            return ended(try await outcomeOfUndeclaredTable())
        }
        let delegate = context.delegate
        // With a delegate, the next operation begins after the delegate has returned.
        let sender = OperationSender(
            context: context, definition: definition, begun: operation,
            permit: delegate == nil ? permit : nil, limits: limits, serverErrors: serverErrors)
        guard let delegate else { return ended(Outcome(try await sender.send())) }
        return try await execute(sender, through: delegate)
    }

    /// Records that the app no longer declares the table. The operation stays pending until it does.
    ///
    /// A conflict stays recorded: another process may declare the table and decide about it. A decision about an operation
    /// behind another one of its item would need the item.
    private func outcomeOfUndeclaredTable() async throws -> Outcome {
        let operation = operation
        let error = TableOperationError.undeclaredTable(operation)
        let (first, recorded) = try await context.read { snapshot in
            (
                try snapshot.operation(before: operation),
                try snapshot.operationError(operationID: operation.id)
            )
        }
        if let first { return .held(.held(operation, by: first, item: nil), by: first) }
        let isConflict = recorded.map { $0.isConflict && $0.revision == operation.revision } ?? false
        if !isConflict, recorded != error { try await context.record(error) }
        return .failed(error)
    }

    private func ended(_ outcome: Outcome, pushEnding: (any Error)? = nil) -> Result {
        Result(operation: operation, outcome: outcome, pushEnding: pushEnding)
    }
}

// MARK: Delegate

/// What the store had when the delegate was called.
private struct DelegateStart: Sendable {
    /// The operation; `nil` if it no longer exists.
    let operation: TableOperation?
    /// The first operation of the item, if it precedes this one.
    let first: TableOperation?
    let item: Item?

    init(
        of begun: TableOperation, _ definition: SyncTableDefinition, in snapshot: some StoreSnapshot
    ) throws {
        operation = try snapshot.operation(id: begun.id)
        first = try snapshot.operation(before: begun)
        item = try snapshot.readableItem(id: begun.itemID, in: definition)
    }
}

extension OperationRun {
    private func execute(
        _ sender: OperationSender, through delegate: any SyncContextDelegate
    ) async throws -> Result {
        let (operation, context, definition) = (operation, context, sender.definition)
        do {
            let start = try await context.write(keepsMarks: true) { transaction -> DelegateStart in
                try sender.mergeUnsent(in: transaction)
                let start = try DelegateStart(of: operation, definition, in: transaction)
                if let insert = start.operation, insert.kind == .insert, start.first == nil {
                    context.inFlight.beginPerforming(operation.id)
                    try insert.setPerformed(true, in: transaction)
                }
                return start
            }
            context.inFlight.removeUnstored(operation.id)
            let result = try await execute(sender, from: start, through: delegate)
            // In an earlier push, the delegate may have inserted the row.
            let wasPerformed = start.operation?.isPerformed ?? false
            await endPerforming(sender, isUnperformed: result.isUnperformed && !wasPerformed)
            return result
        } catch {
            await endPerforming(sender, isUnperformed: false)
            throw error
        }
    }

    /// Ends what the delegate does about an insert: if the user has deleted the item meanwhile, and the server does not have
    /// the row, nothing is left to send. A delegate that has thrown an error may have inserted the row.
    private func endPerforming(_ sender: OperationSender, isUnperformed: Bool) async {
        let (id, inFlight) = (operation.id, context.inFlight)
        guard inFlight.isPerformed(id) else { return }
        defer { inFlight.endPerforming(id) }
        do {
            try await context.write(keepsMarks: true) { transaction in
                inFlight.endPerforming(id)
                if isUnperformed { try transaction.operation(id: id)?.setPerformed(false, in: transaction) }
                try sender.mergeUnsent(in: transaction)
            }
            inFlight.removeUnstored(id)
        } catch {
            // The next push merges the operations before it sends them.
        }
    }

    private func execute(
        _ sender: OperationSender, from start: DelegateStart, through delegate: any SyncContextDelegate
    ) async throws -> Result {
        guard let current = start.operation else { return ended(.notExecuted) }
        let catalog = context.store.dataSource.catalog
        if PushOrder.postpones(current, begunAs: operation, in: catalog) { return unperformed(.skipped) }
        // The delegate could return an item without executing the operation, which would complete it before its
        // predecessor.
        guard start.first == nil else { return unperformed(.skipped) }
        let handle = PushOperation(
            operation: current, item: start.item ?? current.deletedItem, sender: sender)
        let item: Item
        do {
            guard let returned = try await perform(handle, by: delegate) else {
                return unperformed(
                    handle.result.map(Outcome.init) ?? .notExecuted, pushEnding: handle.pushEnding)
            }
            item = returned
        } catch {
            return try await result(of: handle, sender, throwing: error)
        }
        if let outcome = outcomeWithoutItem(handle) { return ended(outcome, pushEnding: handle.pushEnding) }
        do {
            try await sender.store(DelegateResult(item: item, seen: handle.seen, sent: handle.result))
            return ended(.completed, pushEnding: handle.pushEnding)
        } catch let failure as SyncError where failure.isOfStore {
            if handle.result == nil, current.kind == .insert {
                context.inFlight.recordUnstored(item, of: operation.id)
            }
            return ended(handle.result.map(Outcome.init) ?? .notExecuted, pushEnding: failure)
        } catch {
            return try await result(of: handle, sender, throwing: error)
        }
    }

    /// Returns the outcome of an operation that stays pending whatever item the delegate returns, because it was not sent, or
    /// because the push ends before its result is known; `nil` for any other operation.
    private func outcomeWithoutItem(_ handle: PushOperation) -> Outcome? {
        let isInterrupted = handle.isInterrupted && (handle.pushEnding != nil || Task.isCancelled)
        return switch handle.result {
        case .completed: nil
        case .held(let error, let first): .held(error, by: first)
        case .skipped: .skipped
        case .failed(let error): isInterrupted ? .failed(error) : nil
        case .unconfirmed(let error): isInterrupted ? .unconfirmed(error) : nil
        case nil: isInterrupted || handle.pushEnding != nil ? .notExecuted : nil
        }
    }

    private func unperformed(_ outcome: Outcome, pushEnding: (any Error)? = nil) -> Result {
        var result = ended(outcome, pushEnding: pushEnding)
        result.isUnperformed = true
        return result
    }

    private func perform(_ handle: PushOperation, by delegate: any SyncContextDelegate) async throws -> Item?
    {
        do {
            let item = try await delegate.syncContext(context, perform: handle)
            await handle.end()
            return item
        } catch {
            await handle.end()
            throw error
        }
    }

    /// Records an error of the delegate as the operation's error. One that an execution has thrown is recorded already, or
    /// was replaced by that of a later execution, which is the error to decide about. Another one replaces its message only: the
    /// server's row and the status are those of the execution.
    private func result(
        of handle: PushOperation, _ sender: OperationSender, throwing error: any Error
    ) async throws -> Result {
        if case .completed(let item) = handle.result {
            let failure = TableOperationError(operation, item: item, delegateError: error)
            return ended(.completedWithError(failure), pushEnding: handle.pushEnding)
        }
        // The delegate may have cancelled its own tasks: only a cancelled push ends as cancelled.
        if Task.isCancelled { throw CancellationError() }
        if let ending = handle.pushEnding { return ended(.notExecuted, pushEnding: ending) }
        if let thrown = error as? TableOperationError, thrown.operationID == operation.id,
            let result = handle.result
        {
            return unperformed(Outcome(result))
        }
        guard let recorded = try await sender.record(error, after: handle.result) else {
            return ended(.notExecuted)
        }
        if case .unconfirmed = handle.result { return ended(.unconfirmed(recorded)) }
        return ended(.failed(recorded))
    }
}

extension TableOperation {
    /// Stores whether a delegate may have inserted the row: also the next push, after a crash, and other processes know it.
    fileprivate func setPerformed(_ isPerformed: Bool, in transaction: any StoreTransaction) throws {
        guard self.isPerformed != isPerformed else { return }
        var operation = self
        operation.isPerformed = isPerformed
        try transaction.put(operation)
    }
}

extension OperationRun.Outcome {
    fileprivate init(_ result: OperationSender.Result) {
        self =
            switch result {
            case .completed: .completed
            case .failed(let error): .failed(error)
            case .unconfirmed(let error): .unconfirmed(error)
            case .held(let error, let first): .held(error, by: first)
            case .skipped: .skipped
            }
    }
}
