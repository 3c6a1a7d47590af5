// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One push: goes through the queue from its head, and keeps up to so many operations on their way.
struct PushRun {
    private let context: SyncContext
    let tables: Set<String>?
    private let budget: PushBudget
    private let order: PushOrder
    private let deadline: Timestamp?
    private(set) var result = PushResult()

    /// Errors that delegates threw for operations that are complete, and so are in no error log.
    private(set) var errorsAfterCompletion: [TableOperationError] = []
    /// Operations that the service answered with a server error.
    private var unconfirmed: [TableOperationError] = []
    private let serverErrors = ServerErrorStreak()

    /// Operations that had their turn.
    private var performed: Set<Int64> = []
    /// How many turns have begun and not ended.
    private var onTheWay = 0
    /// Whether an operation was passed over because another one of its item had to go first.
    private var hasSkipped = false
    /// The part of the queue that was read ahead. What has changed since is noticed when an operation is sent.
    private var window: ArraySlice<TableOperation> = []
    /// Why the push has to end, once it has.
    private var abort: (any Error)?

    init(context: SyncContext, tables: Set<String>?, budget: PushBudget) {
        self.context = context
        self.tables = tables
        self.budget = budget
        order = PushOrder(context.store.dataSource.catalog.tables)
        deadline = budget.duration.map { context.environment.now().advanced(by: $0) }
    }

    /// Sends operations until the queue is through, the budget is spent, or the push has to end.
    ///
    /// - Throws: why the push ended early.
    mutating func run() async throws {
        do {
            try await passes()
        } catch {
            if !(error is CancellationError) { try? await countServerErrors() }
            throw error
        }
        try await countServerErrors()
    }

    /// A server error is the operation's own when the service has carried out others.
    private func countServerErrors() async throws {
        if serverErrors.hasSucceeded { try await context.countServerErrors(of: unconfirmed) }
    }

    private mutating func passes() async throws {
        let failed = try await context.read { snapshot in
            let errors = try snapshot.operationErrors(in: nil)
            return Set(
                try errors.filter { try snapshot.operation(id: $0.operationID)?.revision == $0.revision }
                    .map(\.operationID))
        }
        var count = -1
        repeat {
            (count, hasSkipped) = (performed.count, false)
            for round in order.rounds where !isSpent {
                // Operations that failed the last time go last: they hold up no others.
                try await pass(round) { !failed.contains($0.id) }
                if !failed.isEmpty, !isSpent { try await pass(round) { failed.contains($0.id) } }
            }
        } while hasSkipped && performed.count > count && !isSpent
    }

    private var isSpent: Bool {
        if let limit = budget.operations, performed.count >= limit { return true }
        return deadline.map { !context.environment.now().isEarlier(than: $0) } ?? false
    }

    /// One way through the queue, for some operations of one round.
    private mutating func pass(
        _ round: Int, where isIncluded: @escaping @Sendable (TableOperation) -> Bool
    ) async throws {
        let width = max(1, context.settings.maxConcurrentOperations)
        let lane = AsyncSemaphore(width: width)
        let (tables, order) = (tables, order)
        let isNext = { @Sendable (operation: TableOperation) in
            tables?.contains(operation.table) ?? true && operation.state != .parked
                && order.round(of: operation) == round && isIncluded(operation)
        }
        window = []
        await withTaskGroup(of: Turn.self) { group in
            var last = Int64(0)
            while let place = await lane.place(),
                let operation = await next(after: last, width: width, while: &group, where: isNext)
            {
                last = operation.id
                performed.insert(operation.id)
                onTheWay += 1
                let (context, serverErrors) = (context, serverErrors)
                group.addTask { await Turn.take(operation, at: place, in: context, serverErrors) }
            }
            for await turn in group { note(turn) }
        }
        if let abort { throw abort }
        try Task.checkCancellation()
    }

    /// The next operation to send, once it is clear that there is one: turns that end may give part of the budget back,
    /// and until they have ended the app may queue something behind them.
    private mutating func next(
        after id: Int64, width: Int, while turns: inout TaskGroup<Turn>,
        where isNext: (TableOperation) -> Bool
    ) async -> TableOperation? {
        var found: TableOperation?
        while abort == nil, !Task.isCancelled {
            if !isSpent {
                if found == nil { found = await next(after: id, where: isNext) }
                // Not too many results wait for the store.
                if found != nil, onTheWay < 4 * width { return found }
            }
            guard let turn = await turns.next() else { return nil }
            note(turn)
        }
        return nil
    }

    /// The next operation of this pass in the queue.
    private mutating func next(
        after id: Int64, where isNext: (TableOperation) -> Bool
    ) async -> TableOperation? {
        var last = id
        do {
            while true {
                if window.isEmpty {
                    let start = last
                    window = try await context.read {
                        try $0.operations(after: start, in: nil, limit: 64)[...]
                    }
                }
                guard let operation = window.popFirst() else { return nil }
                if !performed.contains(operation.id), isNext(operation) { return operation }
                last = operation.id
            }
        } catch {
            abort = error
            return nil
        }
    }

    private mutating func note(_ turn: Turn) {
        onTheWay -= 1
        switch turn.end {
        case .completed: result.completed += 1
        case .completedWithError(let error):
            result.completed += 1
            errorsAfterCompletion.append(error)
        case .failed(let error): result.errors.append(error)
        case .unconfirmed(let error):
            result.errors.append(error)
            unconfirmed.append(error)
        case .skipped:
            hasSkipped = true
            performed.remove(turn.operationID)
        case .untouched: break
        }
        abort = abort ?? turn.abort
    }
}
