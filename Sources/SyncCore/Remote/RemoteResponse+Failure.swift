// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension RemoteResponse {
    /// The error that this answer to the call amounts to; `nil` for a 2xx whose body is what the call asked for.
    ///
    /// This is the reading of a caller that knows nothing but the answer. To a delete that may have been sent
    /// before, for example, a 404 is a success.
    package func failure(of call: RemoteCall, dialect: WireDialect) -> SyncError? {
        switch classification {
        case .done: nil
        case .unauthenticated:
            SyncError(
                .authenticationRequired, "The server requires the user to sign in.", cause: refusal)
        case .tableMissing: SyncError(.tableNotOnServer, "The server has no table '\(call.table)'.")
        case .rowMissing:
            SyncError(.itemNotOnServer, "The server has no row '\(call.itemID ?? "")' in '\(call.table)'.")
        case .rowExists, .versionMismatch: conflict(of: call, dialect: dialect)
        case .refused: refusal
        case .unknown: isSuccess ? unexpectedBody(for: call) : refusal
        case .unavailable: .serviceUnavailable(status: status, message: message)
        }
    }

    /// The server's own row in an answer of 409 or 412; `nil` when there is none, or when the row has no version
    /// and so is only the request's item sent back.
    package func serverItem(dialect: WireDialect) -> Item? {
        guard let item = (try? row(dialect: dialect))?.item, item.system.version != nil else { return nil }
        return item
    }

    /// Whether the same call may be answered otherwise after a short wait.
    package var isTransient: Bool { classification.isTransient(status: status) }

    private func conflict(of call: RemoteCall, dialect: WireDialect) -> SyncError {
        let cause = ServerConflict(item: serverItem(dialect: dialect))
        if classification == .rowExists, call.isInsert {
            return SyncError(
                .itemAlreadyOnServer,
                "The server already has a row '\(call.itemID ?? "")' in '\(call.table)'.", cause: cause)
        }
        return SyncError(
            .preconditionFailed, "The server's version did not match the passed version", cause: cause)
    }

    private var refusal: SyncError {
        let mayRetry = classification == .unknown
        guard let message else {
            return SyncError(
                .serverErrorWithoutMessage, "The server answered with status \(status) and gave no reason.",
                mayRetry: mayRetry)
        }
        return SyncError(
            .serverError, "The server answered with status \(status): \(message)", mayRetry: mayRetry)
    }

    private func unexpectedBody(for call: RemoteCall) -> SyncError {
        if case .unreadable(let reason) = body {
            return SyncError(.unreadableResponse, reason, mayRetry: true)
        }
        if case .query = call.action {
            return SyncError(
                .expectedItemsInResponse, "The server answered without a list of rows.", mayRetry: true)
        }
        return SyncError(.expectedItemInResponse, "The server answered without a row.", mayRetry: true)
    }
}

extension SyncError {
    /// The error for an answer of class ``ResponseClassification/unavailable``.
    static func serviceUnavailable(
        status: Int, message: String?, retryAfter: Duration? = nil
    ) -> SyncError {
        let reason = message.map { ": \($0)" } ?? "."
        return SyncError(
            .serviceUnavailable, "The service is not answering (status \(status))\(reason)", mayRetry: true,
            retryAfter: retryAfter)
    }
}

extension RemoteCall {
    fileprivate var isInsert: Bool {
        if case .insert = action { true } else { false }
    }
}
