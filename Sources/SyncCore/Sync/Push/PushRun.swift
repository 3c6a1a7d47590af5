// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One push: goes through the queue from its head, and keeps up to so many operations on their way.
struct PushRun {
    private let context: SyncContext
    private let tables: Set<String>?
    private let budget: PushBudget
    private let order: PushOrder
    private let deadline: Timestamp?
    private(set) var result = PushResult()

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
        var count = -1
        repeat {
            (count, hasSkipped) = (performed.count, false)
            for round in order.rounds where !isSpent { try await pass(round) }
        } while hasSkipped && performed.count > count && !isSpent
        result.errors.sort { $0.operationID < $1.operationID }
    }

    private var isSpent: Bool {
        if let limit = budget.operations, performed.count >= limit { return true }
        return deadline.map { !context.environment.now().isEarlier(than: $0) } ?? false
    }

    /// One way through the queue, for the operations of one round.
    private mutating func pass(_ round: Int) async throws {
        let width = max(1, context.settings.maxConcurrentOperations)
        let lane = PushLane(width: width)
        window = []
        await withTaskGroup(of: Turn.self) { group in
            var last = Int64(0)
            while let place = await lane.place(),
                let operation = await next(after: last, round, width: width, while: &group)
            {
                last = operation.id
                performed.insert(operation.id)
                onTheWay += 1
                let context = context
                group.addTask { await Turn.take(operation, at: place, in: context) }
            }
            for await turn in group { note(turn) }
        }
        if let abort { throw abort }
        try Task.checkCancellation()
    }

    /// The next operation to send, once it is clear that there is one: turns that end may give part of the budget back,
    /// and until they have ended the app may queue something behind them.
    private mutating func next(
        after id: Int64, _ round: Int, width: Int, while turns: inout TaskGroup<Turn>
    ) async -> TableOperation? {
        var found: TableOperation?
        while abort == nil, !Task.isCancelled {
            if !isSpent {
                if found == nil { found = await next(after: id, round) }
                // Not too many results wait for the store.
                if found != nil, onTheWay < 4 * width { return found }
            }
            guard let turn = await turns.next() else { return nil }
            note(turn)
        }
        return nil
    }

    /// The next operation that is due in this round.
    private mutating func next(after id: Int64, _ round: Int) async -> TableOperation? {
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
                if isDue(operation, in: round) { return operation }
                last = operation.id
            }
        } catch {
            abort = error
            return nil
        }
    }

    private func isDue(_ operation: TableOperation, in round: Int) -> Bool {
        tables?.contains(operation.table) ?? true && operation.state != .parked
            && !performed.contains(operation.id) && order.round(of: operation) == round
    }

    private mutating func note(_ turn: Turn) {
        onTheWay -= 1
        switch turn.end {
        case .completed: result.completed += 1
        case .failed(let error): result.errors.append(error)
        case .skipped:
            hasSkipped = true
            performed.remove(turn.operationID)
        case .untouched: break
        }
        abort = abort ?? turn.abort
    }
}
