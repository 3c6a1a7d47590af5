// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// What became of a request for a list of rows.
    enum PageAnswer {
        /// The rows that came.
        case page(Rows)
        /// The server does not accept the request; another one may be accepted.
        case refused(SyncError)
        /// The answer has more bytes than the transport accepts.
        case tooLong(limit: Int)

        /// A list of rows.
        struct Rows {
            let rows: [WireObject]
            /// Whether the server says that nothing follows.
            let isLast: Bool
            /// When the server answered, to the second, if it told.
            let date: Timestamp?
        }
    }

    /// Asks for a list of rows.
    ///
    /// - Throws: ``SyncError/Code/pullAborted`` with the reason as its cause; `CancellationError`.
    func askForPage(_ call: RemoteCall, table: String) async throws -> PageAnswer {
        let answer: RemoteResponse
        do {
            answer = try await send(call)
        } catch let error as SyncError {
            throw SyncError.pullAborted(table, error)
        }
        if let limit = answer.exceededLimit, answer.isSuccess { return .tooLong(limit: limit) }
        if let error = answer.failure(of: call, dialect: client.dialect) {
            if answer.refusesQuery { return .refused(error) }
            let delay = answer.retryAfter.flatMap { RetryAfter($0, now: environment.now())?.delay }
            let cause = SyncError(
                error.code, error.message, cause: error.cause, mayRetry: error.mayRetry, retryAfter: delay)
            throw SyncError.pullAborted(table, cause)
        }
        guard case .rows(let rows, _) = answer.body else {
            throw SyncError(.internalError, "A list was taken for something else.")
        }
        let date = answer.date.flatMap { Timestamp(httpDate: $0) }
        return .page(PageAnswer.Rows(rows: rows, isLast: answer.isLastPage, date: date))
    }

    /// Pushes before a pull.
    ///
    /// - Returns: the errors of operations that could not be completed: the pull goes on, because it overwrites nothing
    ///   that is pending.
    /// - Throws: the error of a push that ended before it was through.
    func pushBeforePull() async throws -> [TableOperationError] {
        do {
            try await push()
            return []
        } catch let error as SyncError where error.code == .pushCompletedWithErrors {
            return error.pushResult?.errors ?? []
        }
    }
}

extension RemoteResponse {
    /// Whether the service answered a query with an error, as servers do that cannot evaluate its filter.
    fileprivate var refusesQuery: Bool {
        classification == .refused || (classification == .unknown && !isSuccess)
    }
}

extension SyncError {
    static func pullAborted(_ table: String, _ cause: SyncError) -> SyncError {
        SyncError(
            .pullAborted, "The pull of '\(table)' ended early: \(cause.message)", cause: cause,
            mayRetry: cause.mayRetry, retryAfter: cause.retryAfter)
    }
}
