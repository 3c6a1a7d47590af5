// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension RemoteAnswer {
    /// The error that this answer to the call amounts to; `nil` for a 2xx whose body is what the call asked for.
    ///
    /// This is the reading of a caller that knows nothing but the answer. To a delete that may have been sent
    /// before, for example, a 404 is a success.
    package func failure(of call: RemoteCall, dialect: WireDialect) -> SyncError? {
        switch status {
        case 200..<300: unexpectedBody(for: call)
        case 401:
            SyncError(
                .authenticationRequired, "The server asks to sign in.", cause: refusal(dialect: dialect))
        case 404 where isTableMissing:
            SyncError(.tableNotOnServer, "The server has no table '\(call.table)'.")
        case 404, 410:
            SyncError(.itemNotOnServer, "The server has no row '\(call.itemID ?? "")' in '\(call.table)'.")
        case 409 where call.isInsert:
            SyncError(
                .itemAlreadyOnServer,
                "The server already has a row '\(call.itemID ?? "")' in '\(call.table)'.",
                cause: ServerConflict(item: serverItem(dialect: dialect)))
        case 412:
            SyncError(
                .preconditionFailed, "The server's version did not match the passed version",
                cause: ServerConflict(item: serverItem(dialect: dialect)))
        default: refusal(dialect: dialect)
        }
    }

    /// The server's own row in an answer of 409 or 412; `nil` when there is none, or when the row has no version
    /// and so is only the request's item sent back.
    package func serverItem(dialect: WireDialect) -> Item? {
        guard let item = (try? row(dialect: dialect))?.item, item.system.version != nil else { return nil }
        return item
    }

    /// Whether the same call may succeed later by itself.
    package var isTransient: Bool {
        [408, 425, 429, 500, 502, 503, 504].contains(status)
    }

    private func refusal(dialect: WireDialect) -> SyncError {
        let cause = status == 409 ? ServerConflict(item: serverItem(dialect: dialect)) : nil
        guard let message else {
            return SyncError(
                .serverErrorWithoutMessage, "The server answered with status \(status) and gave no reason.",
                cause: cause, mayRetry: isTransient)
        }
        return SyncError(
            .serverError, "The server answered with status \(status): \(message)", cause: cause,
            mayRetry: isTransient)
    }

    private func unexpectedBody(for call: RemoteCall) -> SyncError? {
        switch (call.action, body) {
        case (_, .unreadable(let reason)): SyncError(.unreadableResponse, reason, mayRetry: true)
        case (.delete, _), (.query, .rows): nil
        case (.query, _):
            SyncError(
                .expectedItemsInResponse, "The server answered without a list of rows.", mayRetry: true)
        case (_, .row): nil
        default:
            SyncError(.expectedItemInResponse, "The server answered without a row.", mayRetry: true)
        }
    }
}

extension RemoteCall {
    fileprivate var isInsert: Bool {
        if case .insert = action { true } else { false }
    }
}
