// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// One push: passes over the queue in rounds, and runs its operations concurrently under an ``AsyncSemaphore``.
struct PushRun {
    private let context: SyncContext
    let tables: Set<String>?
    private let limits: PushLimits
    private let order: PushOrder
    private(set) var result = PushResult()

    /// How many operations have ended in each way.
    private(set) var counts: [SyncEvent.OperationGroup: Int] = [:]
    /// Errors that the delegate threw for operations that are complete. They are not in the error log.
    private(set) var errorsAfterCompletion: [TableOperationError] = []
    /// Operations that the service answered with a server error.
    private var unconfirmed: [TableOperationError] = []
    private let serverErrors = ServerErrorStreak()

    /// For each operation that waits for another one, the id of that one.
    private var held: [Int64: Int64] = [:]

    /// Operations whose run has begun.
    private var begun: Set<Int64> = []
    /// The number of runs that have not ended.
    private var runningCount = 0
    /// Begun operations that have sent no request: those of tables that the app no longer declares, and held ones.
    private var unsent: Set<Int64> = []
    /// Operations that were read ahead. A later change of one is detected when it is sent.
    private var readAhead: ArraySlice<TableOperation> = []
    /// Why the push ends; `nil` when it goes on.
    private var ending: (any Error)?
    /// Errors of operations that may be the only ones without an answer. The push throws the first of them at its end.
    private var unansweredErrors: [any Error] = []

    init(context: SyncContext, tables: Set<String>?, budget: PushBudget) {
        self.context = context
        self.tables = tables
        limits = PushLimits(budget, uptime: context.environment.uptime())
        order = PushOrder(context.store.dataSource.catalog)
    }

    /// Sends operations until the end of the queue, the limits, or an error that ends the push.
    ///
    /// - Throws: the error that ended the push.
    mutating func run() async throws {
        do {
            try await sendAll()
        } catch {
            if !(error is CancellationError) { try? await countServerErrors() }
            throw error
        }
        result.hasReachedEnd = !isLimited
        try await countServerErrors()
    }

    private func countServerErrors() async throws {
        if serverErrors.hasSucceeded { try await Parking.countServerErrors(unconfirmed, in: context) }
    }

    private mutating func sendAll() async throws {
        let (tables, order, now) = (tables, order, context.environment.now())
        let sentLast = context.operationIDsSentLast
        let failed = try await context.read {
            try FailedOperations.groups(
                in: $0, tables: tables, sentLast: sentLast, order: order, now: now)
        }
        var (count, hasReleased) = (-1, false)
        var repeated: SyncError?
        repeat {
            count = begun.count
            for round in order.rounds where !isLimited {
                try await pass(round) { !failed.contains($0) }
            }
            // Operations that failed in an earlier push are sent last, so that they delay no others.
            for (group, round) in failed.inRounds(of: order) {
                do {
                    // Begins after the one that was sent last: an earlier push may have ended there.
                    for ids in group.ranges(of: round) where !isLimited {
                        try await pass(round, ids: ids, where: group.contains)
                    }
                } catch let error as SyncError where PushEnding.isTooManyServerErrors(error) {
                    // The server may fail for these operations only. Those of later rounds are sent.
                    repeated = repeated ?? error
                    (ending, result.endedByOperation) = (nil, false)
                    serverErrors.restart()
                }
            }
            hasReleased = try await releaseHeld()
            // Skipped operations may be sent now, and the app may have enqueued operations of earlier rounds.
        } while (begun.count > count || hasReleased) && repeated == nil && !isLimited
        if let repeated, !serverErrors.hasSucceeded { throw repeated }
        if let error = unansweredErrors.first {
            result.endedByOperation = true
            throw error
        }
    }

    /// Releases the operations that were held by an operation that is no longer pending.
    ///
    /// - Returns: whether there are any.
    private mutating func releaseHeld() async throws -> Bool {
        guard !held.isEmpty else { return false }
        let waiting = held
        let released = try await context.read { snapshot in
            Set(try waiting.filter { try snapshot.operation(id: $0.value) == nil }.keys)
        }
        held = held.filter { !released.contains($0.key) }
        result.errors.removeAll { released.contains($0.operationID) }
        begun.subtract(released)
        unsent.subtract(released)
        return !released.isEmpty
    }

    private var isLimited: Bool {
        limits.areReached(
            operations: begun.count - unsent.count, uptime: context.environment.uptime())
    }

    /// Sends the included operations of a round that have these ids. Goes on with the rest after one without an answer.
    private mutating func pass(
        _ round: Int, ids: ClosedRange<Int64> = 0...(.max),
        where isIncluded: @escaping @Sendable (TableOperation) -> Bool
    ) async throws {
        var count: Int
        repeat {
            count = unansweredErrors.count
            try await passOnce(round, ids: ids, where: isIncluded)
        } while unansweredErrors.count > count
    }

    private mutating func passOnce(
        _ round: Int, ids: ClosedRange<Int64>, where isIncluded: @escaping @Sendable (TableOperation) -> Bool
    ) async throws {
        // A fourth of the greatest number: it is multiplied below.
        let permits = min(max(1, context.settings.maxConcurrentOperations), .max / 4)
        // A delegate is called for one operation after another, and other processes cannot take marks back.
        let ahead = context.delegate == nil && !context.isStoreShared ? 1 : 0
        let semaphore = AsyncSemaphore(permits: permits, ahead: ahead)
        let (tables, order) = (tables, order)
        let isInPass = { @Sendable (operation: TableOperation) in
            tables?.contains(operation.table) ?? true && !operation.isParked
                && order.round(of: operation) == round && isIncluded(operation)
        }
        readAhead = []
        await withTaskGroup(of: OperationRun.Result.self) { runs in
            var ids = ids
            while let permit = await semaphore.acquire(),
                let operation = await next(in: ids, &runs, maxRunning: 4 * permits, where: isInPass)
            {
                ids = operation.id...max(operation.id, ids.upperBound)
                begun.insert(operation.id)
                held[operation.id] = nil
                runningCount += 1
                let run = OperationRun(
                    operation: operation, context: context, permit: permit, limits: limits,
                    serverErrors: serverErrors)
                runs.addTask { await run.run() }
            }
            for await result in runs { record(result) }
        }
        if let ending { throw ending }
        try Task.checkCancellation()
    }

    /// Returns the next operation to send, and waits for running ones first when there is none: a skipped one does not
    /// count towards the limits, and the app may enqueue operations until the last one has ended.
    ///
    /// - Parameter maxRunning: bounds the runs that have released their permit and still store their results.
    private mutating func next(
        in ids: ClosedRange<Int64>, _ runs: inout TaskGroup<OperationRun.Result>, maxRunning: Int,
        where isInPass: (TableOperation) -> Bool
    ) async -> TableOperation? {
        var found: TableOperation?
        while ending == nil, !Task.isCancelled {
            if !isLimited {
                if found == nil { found = await readNext(in: ids, where: isInPass) }
                if found != nil, runningCount < maxRunning { return found }
            }
            guard let result = await runs.next() else { return nil }
            record(result)
        }
        return nil
    }

    /// Returns the next operation of this pass in the queue, after the first of the ids.
    private mutating func readNext(
        in ids: ClosedRange<Int64>, where isInPass: (TableOperation) -> Bool
    ) async -> TableOperation? {
        var last = ids.lowerBound
        do {
            while last < ids.upperBound {
                if readAhead.isEmpty {
                    let start = last
                    readAhead = try await context.read {
                        try $0.operations(after: start, in: nil, limit: 64)[...]
                    }
                }
                guard let operation = readAhead.popFirst(), operation.id <= ids.upperBound else { return nil }
                if !begun.contains(operation.id), isInPass(operation) { return operation }
                last = operation.id
            }
            return nil
        } catch {
            ending = error
            return nil
        }
    }

    private mutating func record(_ run: OperationRun.Result) {
        runningCount -= 1
        switch run.outcome {
        case .completed: result.completed += 1
        case .completedWithError(let error):
            result.completed += 1
            errorsAfterCompletion.append(error)
        case .failed(let error):
            if error.isAboutUnsentOperation { unsent.insert(run.operation.id) }
            if error.status != nil { result.hasRefusals = true }
            result.errors.append(error)
        case .held(let error, let first):
            held[run.operation.id] = first.id
            if isLater(first) {
                skip(run.operation)
            } else {
                unsent.insert(run.operation.id)
                result.errors.append(error)
            }
        case .unconfirmed(let error):
            result.errors.append(error)
            // A damaged response of another status is no server error.
            if error.status.map(ResponseClassification.isServerError) == true { unconfirmed.append(error) }
        case .skipped: skip(run.operation)
        case .notExecuted: break
        }
        // A skipped operation runs again.
        if context.isObserved, begun.contains(run.operation.id), let group = SyncEvent.OperationGroup(run) {
            counts[group, default: 0] += 1
        }
        // A service that is unavailable says more than server errors, which may be those of some operations.
        if let new = run.pushEnding, ending.map(PushEnding.isTooManyServerErrors) ?? true {
            end(with: new, at: run.operation)
        }
    }

    /// Ends the push, unless the operation may be the only one without an answer.
    private mutating func end(with error: any Error, at operation: TableOperation) {
        let scope = (error as? SyncError)?.pushEndingScope ?? .service
        let isUnanswered = scope == .unansweredOperation
        var limit = isUnanswered ? context.unanswered.record(operation.id) : nil
        let isAlone = context.unanswered.isAlone(operation.id)
        // It asks for a wait after each request of the only operation without an answer.
        let error = isAlone && isUnanswered ? (error as? SyncError)?.withoutWait ?? error : error
        let asksForWait = (error as? SyncError)?.retryAfter != nil
        if scope == .operation || limit != nil && asksForWait {
            context.unanswered.recordEndOfPush(at: operation.id)
        }
        // A server that asks for a wait is sent no other operation now; the next push begins with others.
        if asksForWait { limit = nil }
        let isUnauthorized = scope == .unauthorizedOperation && context.recordUnauthorized(operation)
        result.mayBeUnauthorizedChange =
            scope == .unauthorizedOperation && !isUnauthorized && context.client.authenticationToken != nil
        result.mayBeOutage = isUnanswered && !isAlone || isUnauthorized
        if let limit, unansweredErrors.count < limit {
            unansweredErrors.append(error)
        } else {
            (ending, result.endedByOperation) = (error, limit != nil || scope == .operation || isUnauthorized)
        }
    }

    /// Whether this push will send the operation in a later pass.
    private func isLater(_ operation: TableOperation) -> Bool {
        !begun.contains(operation.id) && !operation.isParked && tables?.contains(operation.table) ?? true
    }

    private mutating func skip(_ operation: TableOperation) {
        begun.remove(operation.id)
    }
}

extension SyncError {
    fileprivate var withoutWait: SyncError {
        SyncError(code, message, cause: cause, mayRetry: mayRetry)
    }
}

extension SyncEvent.OperationGroup {
    /// The group of a run; `nil` when the run has neither completed nor failed.
    fileprivate init?(_ run: OperationRun.Result) {
        let outcome: SyncEvent.OperationOutcome
        switch run.outcome {
        case .completed, .completedWithError: outcome = .completed
        case .failed(let error): outcome = error.isConflict ? .conflict : .failed
        case .unconfirmed: outcome = .ambiguous
        case .held: outcome = .failed
        case .skipped, .notExecuted: return nil
        }
        self.init(table: run.operation.table, kind: run.operation.kind, outcome: outcome)
    }
}
