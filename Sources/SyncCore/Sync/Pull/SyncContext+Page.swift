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
        guard answer.isSuccess else {
            throw SyncError.pullAborted(call.table, Self.refusal(answer, call.table))
        }
        guard case .rows(let rows, _) = answer.body else {
            throw SyncError.pullAborted(
                call.table,
                SyncError(.expectedItemsInResponse, "The server did not answer with a list of items."))
        }
        return (rows, answer.date.flatMap { Timestamp(httpDate: $0) })
    }

    private static func refusal(_ answer: RemoteAnswer, _ table: String) -> SyncError {
        if answer.isTableMissing {
            return SyncError(.tableNotOnServer, "The server has no table '\(table)'.")
        }
        let message = answer.message ?? "The server answered with status \(answer.status)."
        return SyncError(answer.status == 401 ? .authenticationRequired : .serverError, message)
    }
}

extension SyncError {
    static func pullAborted(_ table: String, _ cause: SyncError) -> SyncError {
        SyncError(
            .pullAborted, "The pull of '\(table)' ended early: \(cause.message)", cause: cause,
            mayRetry: cause.mayRetry)
    }
}
