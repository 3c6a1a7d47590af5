// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Asks for a list of rows; with them comes when the server answered, if it told.
    ///
    /// - Throws: ``SyncError/Code/pullAborted`` with the reason as its cause; `CancellationError`.
    func askForPage(_ call: RemoteCall) async throws -> (rows: [WireObject], date: Timestamp?) {
        let answer: RemoteAnswer
        do {
            answer = try await ask(call)
        } catch let error as SyncError {
            throw SyncError.pullAborted(call.table, error)
        }
        if let failure = answer.failure(of: call, dialect: client.dialect) {
            throw SyncError.pullAborted(call.table, failure)
        }
        guard case .rows(let rows, _) = answer.body else {
            throw SyncError(.internalError, "A list was taken for something else.")
        }
        return (rows, answer.date.flatMap { Timestamp(httpDate: $0) })
    }
}

extension SyncError {
    static func pullAborted(_ table: String, _ cause: SyncError) -> SyncError {
        SyncError(
            .pullAborted, "The pull of '\(table)' ended early: \(cause.message)", cause: cause,
            mayRetry: cause.mayRetry)
    }
}
