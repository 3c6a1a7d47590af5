// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

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

    /// A page as it came, and how many acknowledgements there had been when it was asked for.
    private struct Page: Sendable {
        let rows: [PulledRow]
        let acknowledgements: Int
    }

    /// Keeps acknowledgements noted for as long as the pull lives.
    private final class Session: Sendable {
        let acknowledgements: Acknowledgements

        init(_ acknowledgements: Acknowledgements) {
            self.acknowledgements = acknowledgements
            acknowledgements.beginPull()
        }

        deinit { acknowledgements.endPull() }
    }

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
        return PullRun(pull, definition: definition, key: key, queryText: queryText, storedToken: stored)
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
        session = Session(pull.context.acknowledgements)
        cursor = PullCursor(
            query: pull.query, order: pull.order, settings: pull.settings,
            token: storedToken.flatMap { DeltaToken(storedText: $0, for: queryText) })
        result.deltaToken = cursor.token?.updatedAtText
    }

    /// Stores one page while the next one is fetched.
    ///
    /// - Returns: what the pull has done so far; `nil` when it is through.
    mutating func step() async throws -> PullResult? {
        try Task.checkCancellation()
        guard !(cursor.isDone && fetched == nil) else { return nil }
        let page: Page
        if let fetched { page = fetched } else { page = try await fetch() }
        cursor.advance(over: page.rows)
        fetched = nil
        let (run, token) = (self, tokenToStore)
        async let stored = run.store(page, token: token)
        if !cursor.isDone { fetched = try await fetch() }
        for outcome in try await stored { result.count(outcome) }
        storedToken = token ?? storedToken
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
        let acknowledgements = context.acknowledgements.count
        let dialect = context.client.dialect
        let call = RemoteCall(
            .query(try cursor.nextPage.odata(dialect), includesDeleted: true), table: definition.name,
            parameters: cursor.query.parameters,
            features: tokenKey == nil ? .offline : [.offline, .incrementalPull])
        let answer: RemoteAnswer
        do {
            answer = try await context.ask(call)
        } catch let error as SyncError {
            throw aborted("\(error.message)", cause: error)
        }
        let rows = try rows(of: answer)
        return Page(rows: rows, acknowledgements: acknowledgements)
    }

    private func rows(of answer: RemoteAnswer) throws(SyncError) -> [PulledRow] {
        guard answer.isSuccess else { throw aborted(for: answer) }
        guard case .rows(let rows, _) = answer.body else {
            throw aborted(
                "The server did not answer with a list of items.",
                cause: SyncError(.expectedItemsInResponse, "The answer is no list of items."))
        }
        do throws(SyncError) {
            var pulled: [PulledRow] = []
            pulled.reserveCapacity(rows.count)
            for row in rows {
                let wire = try WireRow(row, dialect: context.client.dialect)
                var item = wire.item
                item.fields = try definition.normalizedFromServer(item.fields)
                pulled.append(PulledRow(item: item, updatedAtText: wire.updatedAtText))
            }
            return pulled
        } catch {
            throw aborted(error.message, cause: error)
        }
    }

    /// Applies a page in one transaction with the token that it leads to.
    private func store(_ page: Page, token: String?) async throws -> [PullEffects.Outcome] {
        guard !page.rows.isEmpty || token != nil else { return [] }
        let (context, definition, key, expected) = (context, definition, tokenKey, storedToken)
        return try await context.write { transaction in
            let effects = PullEffects(transaction: transaction, definition: definition)
            let outcomes = try page.rows.map { row in
                let isSettled = context.acknowledgements.contains(
                    table: definition.name, id: row.item.id, since: page.acknowledgements)
                return isSettled ? .pending : try effects.apply(row.item)
            }
            if let key, let token, try transaction.configValue(key) == expected {
                try transaction.setConfigValue(token, for: key)
            }
            return outcomes
        }
    }

    private func aborted(for answer: RemoteAnswer) -> SyncError {
        if answer.isTableMissing {
            let missing = SyncError(.tableNotOnServer, "The server has no table '\(definition.name)'.")
            return aborted(missing.message, cause: missing)
        }
        let code: SyncError.Code = answer.status == 401 ? .authenticationRequired : .serverError
        let reason = answer.message ?? "The server answered with status \(answer.status)."
        return aborted(reason, cause: SyncError(code, reason))
    }

    private func aborted(_ reason: String, cause: SyncError) -> SyncError {
        SyncError(
            .pullAborted, "The pull of '\(definition.name)' ended early: \(reason)", cause: cause,
            mayRetry: cause.mayRetry)
    }
}
