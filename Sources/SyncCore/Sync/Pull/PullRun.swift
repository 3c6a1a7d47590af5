// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One pull on its way: fetches pages, and stores each with the delta token that it leads to.
struct PullRun: Sendable {
    private let context: SyncContext
    private let definition: SyncTableDefinition
    private let tokenKey: ConfigKey?
    private let binding: String
    private let onUnreadableRow: UnreadableRowPolicy
    private let session: Session
    private var cursor: PullCursor
    private var result: PullResult
    private var fetched: PulledPage?
    /// The token as this pull has found or stored it: if it is another one now, it was reset meanwhile.
    private var storedToken: String?
    /// What the store's stamp of other processes' commits was at the beginning; `nil` in a store of one process.
    private var commitStamp: Int64?

    /// Keeps acknowledgements noted, and the context's status pulling, for as long as the pull lives.
    private final class Session: Sendable {
        private let context: SyncContext
        let source: StalePageGuard.Source
        /// The page that was stored last: letting go of its rows takes time, which the next store need not wait for.
        let storedPage = Mutex<PulledPage?>(nil)
        private let outcome = Mutex<Result<Timestamp, SyncError>?>(nil)

        init(_ context: SyncContext) {
            self.context = context
            source = context.acknowledgements.beginPull()
            context.activity.begin(.pull)
        }

        func end(_ error: (any Error)?) {
            outcome.withLock { outcome in
                if error == nil { outcome = .success(context.environment.now()) }
                if let error = error as? SyncError { outcome = .failure(error) }
            }
        }

        deinit {
            context.acknowledgements.endPull(source)
            context.activity.end(.pull, outcome.withLock { $0 })
        }
    }

    /// Records how the pull ended. The errors of a push before it stay in the status.
    func end(_ error: (any Error)?) {
        if error != nil || result.pushErrors.isEmpty { session.end(error) }
    }

    /// Checks the pull, pushes what is pending if asked to, and finds where to begin.
    static func start(_ pull: PullPages) async throws -> PullRun {
        let context = pull.context
        let definition = try context.definition(of: pull.query.table)
        try pull.validate(definition)
        try await context.withStoreErrors { try await context.user.confirm(in: context.store) }
        let binding = try PullBinding.text(
            query: pull.query, definition: definition, server: ServerIdentity(context.client.url),
            dialect: context.client.dialect)
        var result = PullResult()
        if pull.settings.pending == .pushFirst { result.pushErrors = try await context.pushBeforePull() }
        let key = pull.queryID.map { ConfigKey(table: definition.name, kind: .deltaToken, name: $0) }
        var stored: String?
        if let key { stored = try await context.read { try $0.configValue(key) } }
        var run = PullRun(
            pull, definition: definition, key: key, binding: binding, storedToken: stored, result: result)
        if context.isStoreShared {
            let now = context.environment.now()
            run.commitStamp = try await context.write {
                try SharedStorePull.begin(in: $0, table: definition.name, at: now)
            }
        }
        return run
    }

    private init(
        _ pull: PullPages, definition: SyncTableDefinition, key: ConfigKey?, binding: String,
        storedToken: String?, result: PullResult
    ) {
        context = pull.context
        self.definition = definition
        self.binding = binding
        self.storedToken = storedToken
        self.result = result
        onUnreadableRow = pull.settings.onUnreadableRow
        tokenKey = key
        session = Session(pull.context)
        cursor = PullCursor(
            query: pull.query, order: pull.order, settings: pull.settings,
            token: storedToken.flatMap { DeltaToken(storedText: $0, for: binding) })
        self.result.deltaToken = cursor.token?.updatedAtText
    }

    /// Stores one page while the next one is fetched.
    ///
    /// - Returns: what the pull has done so far; `nil` when it is through.
    mutating func step() async throws -> PullResult? {
        // A page that has come is stored all the same.
        if fetched == nil { try Task.checkCancellation() }
        guard !(cursor.isDone && fetched == nil) else { return nil }
        let page: PulledPage
        if let fetched { page = fetched } else { page = try await fetch() }
        fetched = nil
        try advance(over: page)
        let (run, token) = (self, tokenToStore)
        // The store goes first: a fetch that has begun may take the processor from which the store was to be woken.
        let storing = beginStoring(page, token: token)
        async let next = run.cursor.isDone ? nil : run.fetch()
        var outcomes: [ServerRowApplier.Outcome] = []
        if let storing { outcomes = try await context.value(of: storing) }
        // Conflicts of this page do not wait for the next one, which may fail to come.
        for outcome in outcomes {
            result.count(outcome)
            if case .conflicting(let id) = outcome { try await context.settlePulledConflict(id, definition) }
        }
        fetched = try await next
        session.storedPage.withLock { $0 = page }
        storedToken = token ?? storedToken
        result.pages += 1
        result.received += page.rows.count
        result.add(page.unreadable)
        result.deltaToken = cursor.token?.updatedAtText
        return result
    }

    private mutating func advance(over page: PulledPage) throws(SyncError) {
        cursor = page.cursor
        do throws(SyncError) {
            try cursor.advance(
                over: page.rows, isLast: page.isLast, answeredAt: page.date, now: context.environment.now())
        } catch {
            throw SyncError.pullAborted(definition.name, error)
        }
    }

    private var tokenToStore: String? {
        guard tokenKey != nil, let text = cursor.token?.storedText(for: binding), text != storedToken else {
            return nil
        }
        return text
    }

    private func fetch() async throws -> PulledPage {
        session.storedPage.withLock { $0 = nil }
        let fetch = PageFetch(
            context: context, definition: definition, onUnreadableRow: onUnreadableRow,
            features: tokenKey == nil ? .offline : [.offline, .incrementalPull])
        return try await fetch.page(at: cursor)
    }

    /// Applies a page in one transaction with the token that it leads to.
    private func beginStoring(_ page: PulledPage, token: String?) -> PendingWrite<[ServerRowApplier.Outcome]>?
    {
        let rows = page.rows.filter(\.isReadable)
        if rows.isEmpty, token == nil { return nil }
        let (context, definition, key, expected) = (context, definition, tokenKey, storedToken)
        let (source, stamp) = (session.source, commitStamp)
        return context.store.begin { transaction in
            try context.user.require(in: transaction)
            let effects = ServerRowApplier(
                transaction: transaction, definition: definition,
                isQueueEmpty: try transaction.operations(after: 0, in: nil, limit: 1).isEmpty,
                sharing: try stamp.map {
                    try SharedStorePull(since: $0, in: transaction, at: context.environment.now())
                })
            let known = context.acknowledgements
            var isLikelyNew = true
            let outcomes = try rows.map { row -> ServerRowApplier.Outcome in
                guard !known.isStale(row.item, in: definition.name, since: page.acknowledgements, for: source)
                else { return .unchanged }
                let outcome = try effects.apply(row.item, isLikelyNew: &isLikelyNew)
                let stored = row.item.system.deleted ? nil : row.item
                known.note(stored, id: row.item.id, in: definition.name, from: source)
                return outcome
            }
            if let key, let token, try transaction.configValue(key) == expected {
                try transaction.setConfigValue(token, for: key)
            }
            return outcomes
        }
    }
}
