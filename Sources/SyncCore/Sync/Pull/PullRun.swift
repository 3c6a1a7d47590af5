// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// One pull on its way: fetches pages, and stores each with the delta token that it leads to.
struct PullRun: Sendable {
    private let context: SyncContext
    private let definition: TableDefinition
    private let tokenKey: ConfigKey?
    private let queryText: String
    private let session: Session
    private var cursor: PullCursor
    private var result = PullResult()
    private var fetched: Page?
    /// The token as this pull has found or stored it: if it is another one, somebody has reset it meanwhile.
    private var storedToken: String?
    /// What the store's stamp of other processes' commits was at the beginning; `nil` in a store of one process.
    private var commitStamp: Int64?

    /// A page as it came, when the server answered, and how many acknowledgements there had been when it was asked for.
    private struct Page: Sendable {
        let rows: [PulledRow]
        let date: Timestamp?
        let acknowledgements: Int
    }

    /// Keeps acknowledgements noted, and the context's status pulling, for as long as the pull lives.
    private final class Session: Sendable {
        private let context: SyncContext
        let source: Acknowledgements.Source
        /// The page that was stored last: letting go of its rows takes time, which the next store need not wait for.
        let storedPage = Mutex<Page?>(nil)
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

    /// Notes how the pull ended.
    func end(_ error: (any Error)?) { session.end(error) }

    /// Checks the pull, pushes what is pending if asked to, and finds where to begin.
    static func start(_ pull: PullPages) async throws -> PullRun {
        let context = pull.context
        let definition = try context.definition(of: pull.query.table)
        try pull.validate(definition)
        if pull.settings.pending == .pushFirst { try await context.push() }
        let queryText = try pull.query.identity(context.client.dialect)
        let key = pull.queryID.map { ConfigKey(table: definition.name, kind: .deltaToken, name: $0) }
        var stored: String?
        if let key { stored = try await context.read { try $0.configValue(key) } }
        var run = PullRun(pull, definition: definition, key: key, queryText: queryText, storedToken: stored)
        if context.isStoreShared {
            let now = context.environment.now()
            run.commitStamp = try await context.write {
                try SharedStorePull.begin(in: $0, table: definition.name, at: now)
            }
        }
        return run
    }

    private init(
        _ pull: PullPages, definition: TableDefinition, key: ConfigKey?, queryText: String,
        storedToken: String?
    ) {
        context = pull.context
        self.definition = definition
        self.queryText = queryText
        self.storedToken = storedToken
        tokenKey = key
        session = Session(pull.context)
        cursor = PullCursor(
            query: pull.query, order: pull.order, settings: pull.settings,
            token: storedToken.flatMap { DeltaToken(storedText: $0, for: queryText) })
        result.deltaToken = cursor.token?.updatedAtText
    }

    /// Stores one page while the next one is fetched.
    ///
    /// - Returns: what the pull has done so far; `nil` when it is through.
    mutating func step() async throws -> PullResult? {
        // A page that has come is stored all the same.
        if fetched == nil { try Task.checkCancellation() }
        guard !(cursor.isDone && fetched == nil) else { return nil }
        let page: Page
        if let fetched { page = fetched } else { page = try await fetch() }
        cursor.advance(over: page.rows, answeredAt: page.date)
        fetched = nil
        let (run, token) = (self, tokenToStore)
        // The store goes first: a fetch that has begun may take the processor from which the store was to be woken.
        let storing = beginStoring(page, token: token)
        async let next = run.cursor.isDone ? nil : run.fetch()
        var outcomes: [PullEffects.Outcome] = []
        if let storing { outcomes = try await context.value(of: storing) }
        fetched = try await next
        session.storedPage.withLock { $0 = page }
        storedToken = token ?? storedToken
        for outcome in outcomes {
            result.count(outcome)
            if case .conflicting(let id) = outcome { try await context.settlePulledConflict(id, definition) }
        }
        result.pages += 1
        result.received += page.rows.count
        result.deltaToken = cursor.token?.updatedAtText
        return result
    }

    private var tokenToStore: String? {
        guard tokenKey != nil, let text = cursor.token?.storedText(for: queryText), text != storedToken else {
            return nil
        }
        return text
    }

    private func fetch() async throws -> Page {
        session.storedPage.withLock { $0 = nil }
        let acknowledgements = context.acknowledgements.count
        let dialect = context.client.dialect
        let call = RemoteCall(
            .query(try cursor.nextPage.odata(dialect), includesDeleted: true), table: definition.name,
            parameters: cursor.query.parameters,
            features: tokenKey == nil ? .offline : [.offline, .incrementalPull])
        let answer = try await context.askForPage(call)
        var reader = WireRowReader(dialect: dialect, definition: definition)
        var rows: [PulledRow] = []
        rows.reserveCapacity(answer.rows.count)
        do throws(SyncError) {
            for row in answer.rows {
                let wire = try reader.read(row)
                rows.append(PulledRow(item: wire.item, updatedAtText: wire.updatedAtText))
            }
        } catch {
            throw SyncError.pullAborted(definition.name, error)
        }
        // A row counts as dated in the future when it is so by both clocks: one of them may be slow.
        let date = answer.date.map { max($0, context.environment.now()) }
        return Page(rows: rows, date: date, acknowledgements: acknowledgements)
    }

    /// Applies a page in one transaction with the token that it leads to.
    private func beginStoring(_ page: Page, token: String?) -> PendingWrite<[PullEffects.Outcome]>? {
        if page.rows.isEmpty, token == nil { return nil }
        let (context, definition, key, expected) = (context, definition, tokenKey, storedToken)
        let (source, stamp) = (session.source, commitStamp)
        return context.store.begin { transaction in
            let effects = PullEffects(
                transaction: transaction, definition: definition,
                isQueueEmpty: try transaction.operations(after: 0, in: nil, limit: 1).isEmpty,
                sharing: try stamp.map {
                    try SharedStorePull(since: $0, in: transaction, at: context.environment.now())
                })
            let known = context.acknowledgements
            var isLikelyNew = true
            let outcomes = try page.rows.map { row -> PullEffects.Outcome in
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
