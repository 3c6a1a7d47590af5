// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A running pull: requests pages, and stores each in one transaction with the delta token at its end.
struct PullRun: Sendable {
    private let context: SyncContext
    private let pull: ValidatedPull
    private let session: Session
    private var cursor: PullCursor
    private var result: PullResult
    /// The error of the push before the pull if it ended early. It is thrown at the end.
    private var pushError: SyncError?
    /// Whether the next request asks for the number of rows.
    private var requestsTotal: Bool
    /// The number of rows that match the query, as the server has counted them.
    private var serverCount: Int?
    /// What the request for a page has led to that was sent while the previous one was being stored.
    private var fetched: Result<PulledPage, any Error>?
    /// The token as this pull has read or stored it. Another value in the store means that it was reset since.
    private var storedToken: String?
    /// The state of the store before the page was requested.
    private var mark: Mark
    /// Whether the table was purged during the pull: rows that the pull has stored may be gone, so it stores no token.
    private var isPurged = false

    /// What a pull compares with when it stores a page.
    private struct Mark: Sendable {
        let purgeCount: Int64?
        /// The store's stamp of other processes' commits; `nil` in a store of one process.
        let commitStamp: Int64?
    }

    /// Keeps the stale page guard recording, and the context's status pulling, until it is deallocated: also when the app leaves
    /// the loop over the pages.
    private final class Session: Sendable {
        private let context: SyncContext
        private let pull: ValidatedPull
        /// When the pull began; `nil` when events have no reader.
        let startTime: Timestamp?
        let source: StalePageGuard.Source
        /// The page that was stored last. Its rows are deallocated during the next request, off the critical path.
        let storedPage = Mutex<PulledPage?>(nil)
        /// What the pull has done, until an event reports its end.
        let unreported: Mutex<PullResult?>
        private let outcome = Mutex<Result<Timestamp, SyncError>?>(nil)

        init(_ context: SyncContext, _ pull: ValidatedPull, startTime: Timestamp?, result: PullResult) {
            (self.context, self.pull, self.startTime) = (context, pull, startTime)
            unreported = Mutex(result)
            source = context.stalePageGuard.beginPull(of: pull.definition.name)
            context.activity.begin(.pull)
        }

        func end(_ error: (any Error)?) {
            outcome.withLock { outcome in
                if error == nil { outcome = .success(context.environment.now()) }
                if let error = error as? SyncError { outcome = .failure(error) }
            }
        }

        deinit {
            if let result = unreported.withLock({ $0 }) {
                PullRun.emitEnd(of: pull, in: context, result, CancellationError(), since: startTime)
            }
            context.stalePageGuard.endPull(source)
            context.activity.end(.pull, outcome.withLock { $0 })
        }
    }

    /// Pushes pending operations if the settings say so, and reads the delta token.
    static func start(_ pull: ValidatedPull, in context: SyncContext) async throws -> PullRun {
        let startTime = context.isObserved ? context.environment.now() : nil
        var result = PullResult()
        do {
            var pushError: SyncError?
            if pull.settings.pending == .pushFirst {
                pushError = try await context.pushPermittingPulls().error
            }
            result.pushErrors = pushError?.pushResult?.errors ?? []
            var run = try await PullRun(pull, in: context, startTime: startTime, result: result)
            if pushError?.code != .pushCompletedWithErrors { run.pushError = pushError }
            return run
        } catch {
            emitEnd(of: pull, in: context, result, error, since: startTime)
            throw error
        }
    }

    private init(
        _ pull: ValidatedPull, in context: SyncContext, startTime: Timestamp?, result: PullResult
    ) async throws {
        (storedToken, mark) = try await Self.storeState(for: pull, in: context)
        session = Session(context, pull, startTime: startTime, result: result)
        self.context = context
        self.pull = pull
        self.result = result
        cursor = PullCursor(
            query: pull.query, order: pull.order, settings: pull.settings,
            token: storedToken.flatMap { DeltaToken(storedText: $0, for: pull.binding) })
        requestsTotal = pull.settings.requestsTotal
        self.result.deltaToken = cursor.token?.updatedAtText
    }

    /// Reads what the pull needs from the store before it requests a page.
    private static func storeState(
        for pull: ValidatedPull, in context: SyncContext
    ) async throws -> (token: String?, mark: Mark) {
        let now = context.environment.now()
        guard context.isStoreShared else {
            return try await context.read { try storeState(for: pull, in: $0, commitStamp: nil) }
        }
        return try await context.write { transaction in
            let stamp = try SharedStorePull.begin(in: transaction, table: pull.definition.name, at: now)
            return try storeState(for: pull, in: transaction, commitStamp: stamp)
        }
    }

    private static func storeState(
        for pull: ValidatedPull, in snapshot: some StoreSnapshot, commitStamp: Int64?
    ) throws -> (token: String?, mark: Mark) {
        let purgeCount = try PurgeCount.value(of: pull.definition.name, in: snapshot)
        let mark = Mark(purgeCount: purgeCount, commitStamp: commitStamp)
        return (try pull.tokenKey.flatMap(snapshot.configValue), mark)
    }

    /// Prepares for requesting a page again.
    private mutating func readMark() async throws {
        let current = try await Self.storeState(for: pull, in: context).mark
        if current.purgeCount != mark.purgeCount { isPurged = true }
        mark = current
    }

    /// Records how the pull ended in the context's status, and emits an event. The errors of a push before it stay in the
    /// status.
    func end(_ error: (any Error)?) {
        session.unreported.withLock { $0 = nil }
        // The purge has removed rows that this pull has stored, and no hint leads to them.
        if error == nil, isPurged { context.tablesToPull.insert(pull.query.table) }
        Self.emitEnd(of: pull, in: context, result, error, since: session.startTime)
        if error != nil || result.pushErrors.isEmpty { session.end(error) }
        if error != nil { context.keepUnlistedRows(of: result) }
    }

    private static func emitEnd(
        of pull: ValidatedPull, in context: SyncContext, _ result: PullResult, _ error: (any Error)?,
        since startTime: Timestamp?
    ) {
        guard let startTime else { return }
        let duration = context.elapsed(since: startTime)
        context.emit(
            .pullEnded(SyncEvent.PullEnded(pull.query.table, result, error: error, duration: duration)),
            SyncLog.Details(queryID: pull.tokenKey?.name))
    }

    /// Stores one page while the next one is requested. If that request fails, the next step throws its error.
    ///
    /// - Returns: what the pull has done so far; `nil` when it has finished.
    mutating func step() async throws -> PullResult? {
        // A page that was received is stored even if the task is cancelled.
        if fetched == nil { try Task.checkCancellation() }
        if cursor.isDone, fetched == nil {
            if let pushError { throw pushError }
            return nil
        }
        let page: PulledPage
        let fetched = if let fetched { fetched } else { await fetch() }
        do { page = try fetched.get() } catch let error as SyncError {
            throw error.afterPush(pushError)
        }
        self.fetched = nil
        try advance(over: page)
        let (run, token) = (self, tokenToStore)
        // The write begins first: a started request may occupy the thread that would wake the store's writer.
        let storing = beginStoring(page, token: token)
        async let next = run.cursor.isDone ? nil : run.fetch()
        var outcomes: [ServerRowApplier.Outcome] = []
        if let storing {
            guard let stored = try await waitUntilStored(storing, page) else {
                cursor = page.cursor
                try await readMark()
                return result
            }
            outcomes = stored
        }
        storedToken = token ?? storedToken
        recordStored(page, outcomes)
        // Conflicts of this page are resolved before the next page, whose request may fail.
        for outcome in outcomes {
            if case .conflicting(let id) = outcome {
                try await context.resolvePulledConflict(id, pull.definition)
            }
        }
        self.fetched = await next
        session.storedPage.withLock { $0 = page }
        result.add(context.unlistedRows.take(of: pull.query.table))
        session.unreported.withLock { [result] in $0 = result }
        return result
    }

    /// Waits until the page is stored. If it is unknown whether it is, its unreadable rows are listed all the same: the token may
    /// be past them.
    private mutating func waitUntilStored(
        _ storing: PendingWrite<[ServerRowApplier.Outcome]?>, _ page: PulledPage
    ) async throws -> [ServerRowApplier.Outcome]? {
        do {
            return try await context.value(of: storing)
        } catch let error as SyncError where (error.cause as? StoreError)?.code == .outcomeUnknown {
            result.add(page.unreadable)
            throw error
        }
    }

    /// Counts the page and its rows, also if resolving a conflict of the page ends the pull.
    private mutating func recordStored(_ page: PulledPage, _ outcomes: [ServerRowApplier.Outcome]) {
        let previous = result
        for outcome in outcomes { result.count(outcome) }
        result.add(page.unreadable)
        result.pages += 1
        let isSkipped = page.cursor.isBeforeOffset
        result.countReceived(isSkipped ? page.rows.count(where: \.isReadable) : page.rows.count)
        result.deltaToken = isPurged ? nil : cursor.token?.updatedAtText
        session.unreported.withLock { [result] in $0 = result }
        context.emit(
            .pageStored(
                SyncEvent.PageStored(
                    table: pull.query.table, rows: SyncEvent.RowCounts(result, since: previous))))
    }

    private mutating func advance(over page: PulledPage) throws(SyncError) {
        if requestsTotal { serverCount = page.total }
        cursor = page.cursor
        try cursor.advance(over: page)
        if requestsTotal || page.cursor.isBeforeOffset {
            result.total = serverCount.map(cursor.countInWindow)
        }
        requestsTotal = false
    }

    private var tokenToStore: String? {
        guard pull.tokenKey != nil, !isPurged, let text = cursor.token?.storedText(for: pull.binding),
            text != storedToken
        else { return nil }
        return text
    }

    private func fetch() async -> Result<PulledPage, any Error> {
        session.storedPage.withLock { $0 = nil }
        let request = PageRequest(context: context, pull: pull, requestsTotal: requestsTotal)
        do {
            let page = try await request.page(at: cursor)
            context.unanswered.recordAnswer()
            return .success(page)
        } catch {
            return .failure(error)
        }
    }

    /// Applies a page in one transaction with the token at its end.
    ///
    /// The write returns `nil`, and stores nothing, if the page must be requested again: the table was purged since the page
    /// was requested, or it is unknown whether a row of it is later than the state that a push, another pull or another
    /// process has stored since, or has removed.
    private func beginStoring(
        _ page: PulledPage, token: String?
    ) -> PendingWrite<[ServerRowApplier.Outcome]?>? {
        let rows = page.rows.filter(\.isReadable)
        if rows.isEmpty, token == nil { return nil }
        let (context, pull, expectedToken) = (context, pull, storedToken)
        let (source, mark) = (session.source, mark)
        let cascade = CascadedRemoval(of: pull.definition.name, in: context.store.dataSource)
        return context.store.begin { transaction in
            try context.user.bind(in: transaction)
            try context.inFlight.takeBackMarks(in: transaction)
            let table = pull.definition.name
            guard try PurgeCount.value(of: table, in: transaction) == mark.purgeCount else { return nil }
            let sharedStore = try mark.commitStamp.map {
                try SharedStorePull(since: $0, in: transaction, at: context.environment.now())
            }
            if let sharedStore, sharedStore.isTooOld(page) { return nil }
            let applier = ServerRowApplier(
                transaction: transaction, definition: pull.definition,
                isQueueEmpty: try transaction.operations(after: 0, in: nil, limit: 1).isEmpty,
                sharedStore: sharedStore)
            let stalePageGuard = context.stalePageGuard
            let ages = try rows.map { row in
                let age = stalePageGuard.age(of: row.item, in: table, since: page.storedRowCount, for: source)
                guard age == .current, let sharedStore else { return age }
                return try sharedStore.age(of: row.item, in: pull.definition, transaction)
            }
            guard !ages.contains(.unknown) else { return nil }
            let apply = {
                try applier.apply(rows.map(\.item), where: { ages[$0] == .current }) { item in
                    stalePageGuard.recordStored(
                        item.system.deleted ? nil : item, id: item.id, in: table, from: source)
                }
            }
            let removesRows = !applier.isQueueEmpty && rows.contains(where: \.item.system.deleted)
            let outcomes =
                removesRows ? try cascade.keepingChanges(in: transaction, apply) : try apply()
            if let key = pull.tokenKey, let token, try transaction.configValue(key) == expectedToken {
                try transaction.setConfigValue(token, for: key)
            }
            return outcomes
        }
    }
}

extension PullCursor {
    /// Records a page.
    ///
    /// - Throws: ``SyncError/Code/pullAborted`` when the server repeats pages.
    mutating func advance(over page: PulledPage, endsAtLastPage: Bool = true) throws(SyncError) {
        do throws(SyncError) {
            let next = page.next == .end && !endsAtLastPage ? .unknown : page.next
            try advance(over: page.rows, next: next, at: page.time)
        } catch {
            throw SyncError.pullAborted(query.table, error)
        }
    }
}
