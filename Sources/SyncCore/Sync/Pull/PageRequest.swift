// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Requests pages. When the server refuses a query or a response is too long, it requests a smaller page or
/// uses another query.
struct PageRequest: Sendable {
    let context: SyncContext
    let pull: ValidatedPull
    /// The columns to request; empty requests all.
    var selection: [String] = []
    var includesTombstones = true
    var requestsTotal = false

    /// What the server has returned for a query.
    private enum Response {
        case rows([WireObject], total: Int?, NextPage, PageTime)
        /// The server does not accept the query; it may accept another one.
        case refused(SyncError, status: Int)
        /// The response has more bytes than the transport accepts.
        case tooLong(limit: Int)
    }

    var table: String { pull.definition.name }

    /// Returns the page that follows the cursor.
    ///
    /// - Throws: ``SyncError/Code/pullAborted`` with the reason as its cause; `CancellationError`.
    func page(at cursor: PullCursor) async throws -> PulledPage {
        var cursor = cursor
        var refusalCount = 0
        // After server errors: the cursor before the alternative, then the alternative while the query is tried once more.
        var (failed, alternative) = (PullCursor?.none, PullCursor?.none)
        var requestsTotal = requestsTotal
        while true {
            let storedRowCount = context.stalePageGuard.storedRowCount
            let requestedAt = context.environment.now()
            switch try await send(cursor.nextPage, requestsTotal: requestsTotal) {
            case .rows where failed != nil:
                // The errors may have been those of a restart.
                (alternative, cursor, failed) = (cursor, failed ?? cursor, nil)
            case .rows(let rows, let total, let next, let time):
                var (read, unreadable) = try read(rows)
                if cursor.isBeforeOffset { (read, unreadable) = (read.map { $0.withoutFields }, []) }
                return PulledPage(
                    rows: read, unreadable: unreadable, next: next, time: time,
                    storedRowCount: storedRowCount, requestedAt: requestedAt, cursor: cursor, total: total)
            case .refused where requestsTotal:
                requestsTotal = false
            case .refused where alternative != nil:
                (cursor, alternative) = (alternative ?? cursor, nil)
            case .refused(let error, let status):
                guard cursor.hasAlternative else { throw SyncError.pullAborted(table, error) }
                // The alternative may leave rows out for good, so a few failures are not taken for a refusal.
                refusalCount += 1
                if refusalCount == 4 {
                    if status >= 500 { failed = failed ?? cursor }
                    cursor.advanceOverRefusal()
                    refusalCount = 0
                } else if status >= 500, !context.retryBudget.spend() {
                    throw SyncError.pullAborted(table, error)
                }
            case .tooLong(let limit):
                guard !cursor.halvePage() else { continue }
                return try await pageOfLongRow(cursor, storedRowCount, requestedAt, limit: limit)
            }
        }
    }

    /// Returns a page of one row that is itself too long: only its id and its system properties.
    ///
    /// The row is requested by its id once more: another row can have come before it since.
    private func pageOfLongRow(
        _ cursor: PullCursor, _ storedRowCount: Int, _ requestedAt: Timestamp, limit: Int
    ) async throws -> PulledPage {
        let reason = SyncError(
            .unreadableResponse,
            "A row is longer than the \(limit) bytes that the transport accepts in one response.")
        var query = cursor.nextPage
        query.selection = ["id"]
        guard case .rows(let rows, _, let next, let time) = try await send(query), rows.count <= 1 else {
            throw SyncError.pullAborted(table, reason)
        }
        let read: [PulledRow], unreadable: [UnreadableRow]
        var reader = WireRowReader(dialect: context.client.dialect, definition: pull.definition)
        let short = rows.first.map { reader.readRecordingProblems($0) }
        let id = short?.item.id ?? ""
        let byID = cursor.nextPage.where(.id(.equal, id)).offset(0)
        if !id.isEmpty, case .rows(let whole, _, _, _) = try await send(byID) {
            (read, unreadable) = try self.read(whole)
            // A row that has changed since is not at this position any more.
            guard whole.count == 1, read[0].updatedAtText == short?.updatedAtText else {
                let change = SyncError(.serverError, "A row changed while it was requested.", mayRetry: true)
                throw SyncError.pullAborted(table, change)
            }
        } else {
            (read, unreadable) = try self.read(rows, tooLong: reason)
        }
        return PulledPage(
            rows: read, unreadable: unreadable, next: next, time: time,
            storedRowCount: storedRowCount, requestedAt: requestedAt, cursor: cursor, total: nil)
    }

    private func send(_ query: TableQuery, requestsTotal: Bool = false) async throws -> Response {
        let call = try call(query, requestsTotal: requestsTotal)
        let environment = context.environment
        let (sentAt, began) = (environment.now(), environment.uptime())
        let response = try await context.sendInPull(call)
        if let limit = response.exceededLimit, response.isSuccess { return .tooLong(limit: limit) }
        // A clock that an app has given the environment can be set back.
        let (now, duration) = (environment.now(), max(.zero, environment.uptime() - began))
        let client = context.client
        if let error = response.failure(of: call, dialect: client.dialect, below: client.url, now: now) {
            if response.refusesQuery { return .refused(error, status: response.status) }
            let delay = RetryAfter.delay(response.retryAfter, now: now)
            let cause = SyncError(
                error.code, error.message, cause: error.cause, mayRetry: error.mayRetry, retryAfter: delay)
            throw SyncError.pullAborted(table, cause)
        }
        guard case .rows(let rows, let total) = response.body else {
            throw SyncError(.internalError, "The response to a query was read as something other than rows.")
        }
        let date = response.date.flatMap { Timestamp(httpDate: $0) }
        // The server can have read the rows long before it wrote `Date`, but not before the request was sent. A server without
        // `Date` is taken to have this device's clock.
        let readAt = date?.showing(fractionDigits: 9).advanced(by: .zero - duration) ?? sentAt
        return .rows(rows, total: total, response.nextPage, PageTime(server: date, readAt: readAt))
    }

    private func call(_ query: TableQuery, requestsTotal: Bool) throws(SyncError) -> RemoteCall {
        var query = query
        query.includesTotalCount = requestsTotal
        if query.selection.isEmpty { query.selection = selection }
        return RemoteCall(
            .query(try query.odata(context.client.dialect), includesDeleted: includesTombstones),
            table: table, parameters: query.parameters,
            features: pull.tokenKey == nil ? .offline : [.offline, .incrementalPull])
    }
}

extension RemoteResponse {
    /// Whether the service has refused the query, as servers do that cannot evaluate its filter.
    fileprivate var refusesQuery: Bool {
        classification == .refused || (classification == .unknown && !isSuccess)
    }
}

extension SyncError {
    /// The error that ends a pull of the table.
    static func pullAborted(_ table: String, _ cause: SyncError) -> SyncError {
        SyncError(
            .pullAborted, "The pull of '\(table)' ended early: \(cause.message)", cause: cause,
            mayRetry: cause.mayRetry, retryAfter: cause.retryAfter)
    }
}

extension SyncContext {
    /// Sends a request of a pull or a reconciliation: see ``send(_:mayRepeat:recordingIn:)``.
    ///
    /// - Throws: ``SyncError/Code/pullAborted`` with the reason as its cause; ``SyncError/Code/contextInvalid``;
    ///   `CancellationError`.
    func sendInPull(_ call: RemoteCall) async throws -> RemoteResponse {
        do {
            return try await send(call)
        } catch let error as SyncError where error.code != .contextInvalid {
            throw SyncError.pullAborted(call.table, error)
        }
    }
}
