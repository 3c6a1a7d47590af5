// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One push: goes through the queue from its head, one operation after the other.
struct PushRun {
    let context: SyncContext
    /// The tables to push; `nil` is all of them.
    let tables: Set<String>?
    private(set) var result = PushResult()

    init(context: SyncContext, tables: Set<String>?) {
        self.context = context
        self.tables = tables
    }

    /// Sends operations until the queue is through or the push has to end.
    ///
    /// - Throws: why the push ended early.
    mutating func run() async throws {
        var last: Int64 = 0
        while let operation = try await next(after: last) {
            try Task.checkCancellation()
            last = operation.id
            guard tables?.contains(operation.table) ?? true, operation.state != .parked else { continue }
            try await perform(operation)
        }
    }

    private func next(after id: Int64) async throws -> TableOperation? {
        try await context.read { try $0.operations(after: id, in: nil, limit: 1).first }
    }

    private mutating func perform(_ operation: TableOperation) async throws {
        let definition = try context.definition(of: operation.table)
        let item = try await context.read { try $0.item(id: operation.itemID, in: operation.table) }
        let sender = OperationSender(context: context, definition: definition, operationID: operation.id)
        let handle = PushOperation(operation: operation, item: item ?? operation.deletedItem, sender: sender)
        do {
            if let item = try await carryOut(handle) {
                try await sender.store(item, insteadOf: handle.outcome)
                result.completed += 1
            } else {
                note(handle.outcome)
            }
        } catch {
            if let abort = handle.abort { throw abort }
            try await note(failure: error, of: handle, sender: sender)
        }
        if let abort = handle.abort { throw abort }
    }

    private func carryOut(_ handle: PushOperation) async throws -> Item? {
        guard let delegate = context.delegate else { return try await handle.execute() }
        return try await delegate.syncContext(context, perform: handle)
    }

    private mutating func note(_ outcome: OperationSender.Outcome?) {
        switch outcome {
        case .completed: result.completed += 1
        case .failed(let error): result.errors.append(error)
        case .skipped, nil: break
        }
    }

    /// What the delegate threw becomes the operation's error, unless it is the one that was recorded already.
    private mutating func note(
        failure: any Error, of handle: PushOperation, sender: OperationSender
    ) async throws {
        if let recorded = failure as? TableOperationError {
            result.errors.append(recorded)
        } else if failure is CancellationError {
            throw failure
        } else if let error = try await sender.record(failure) {
            result.errors.append(error)
        }
    }
}
