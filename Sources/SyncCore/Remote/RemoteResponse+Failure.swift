// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import Foundation

extension RemoteResponse {
    /// Returns the error of this response to the call; `nil` for a success with the expected body.
    ///
    /// This is the meaning for a caller that does not repeat requests. A push, for example, completes a delete whose row
    /// is missing.
    ///
    /// - Parameter url: the client's URL, to name it in the error of a missing table.
    package func failure(
        of call: RemoteCall, dialect: WireDialect, below url: URL? = nil,
        now: Timestamp = SyncEnvironment.systemTime
    ) -> SyncError? {
        switch classification {
        case .done: nil
        case .unauthenticated:
            SyncError(
                .authenticationRequired, "The server requires the user to sign in.", cause: refusal)
        case .tableMissing: .tableNotOnServer(call.table, below: url)
        case .rowMissing: conflict(.itemNotOnServer, of: call, serverItem: nil, cause: nil)
        case .rowExists, .versionMismatch: conflict(of: call, dialect: dialect)
        case .refused: refusal
        case .unknown: isSuccess ? unexpectedBody(for: call) : refusal
        case .unavailable:
            .serviceUnavailable(
                status: status, message: message, retryAfter: RetryAfter.delay(retryAfter, now: now))
        }
    }

    /// Returns the server's row in a conflict response; `nil` if there is none, or if the row has no version, because it
    /// is then an echo of the request.
    package func serverItem(dialect: WireDialect) -> Item? {
        guard let item = (try? row(dialect: dialect))?.item, item.system.version != nil else { return nil }
        return item
    }

    /// Whether the same request may succeed after a short wait.
    package var isTransient: Bool { classification.isTransient(status: status) }

    private func conflict(of call: RemoteCall, dialect: WireDialect) -> SyncError {
        let serverItem = serverItem(dialect: dialect)
        let isInsertConflict = classification == .rowExists && call.isInsert
        return conflict(
            isInsertConflict ? .itemAlreadyOnServer : .preconditionFailed, of: call, serverItem: serverItem,
            cause: ServerConflict(item: serverItem))
    }

    private func conflict(
        _ code: SyncError.Code, of call: RemoteCall, serverItem: Item?, cause: ServerConflict?
    ) -> SyncError {
        let message = ConflictMessage.text(
            code, row: "row '\(call.itemID ?? "")' in '\(call.table)'", serverItem: serverItem)
        return SyncError(code, message, cause: cause)
    }

    private var refusal: SyncError {
        let mayRetry = classification == .unknown
        guard let message else {
            return SyncError(
                .serverErrorWithoutMessage, "The server responded with status \(status) without a message.",
                mayRetry: mayRetry)
        }
        return SyncError(
            .serverError, "The server responded with status \(status): \(message)", mayRetry: mayRetry)
    }

    private func unexpectedBody(for call: RemoteCall) -> SyncError {
        if case .unreadable(let reason) = body {
            return SyncError(.unreadableResponse, reason, mayRetry: true)
        }
        return switch call.action {
        case .query:
            SyncError(
                .expectedItemsInResponse,
                "The response of the server has no list of rows. Check the client's URL and dialect.",
                mayRetry: true)
        case .changes: .notChangeFeed
        case .read, .insert, .update, .delete, .undelete:
            SyncError(
                .expectedItemInResponse,
                "The response of the server has no row. Check the client's URL and dialect.", mayRetry: true)
        }
    }
}

extension SyncError {
    /// The error of a successful response to ``SyncClient/nextChange(in:after:within:)`` without events.
    static var notChangeFeed: SyncError {
        SyncError(.unreadableResponse, "The response is not a change feed.", mayRetry: true)
    }

    /// The error of a response that is classified as ``ResponseClassification/unavailable``.
    static func serviceUnavailable(
        status: Int, message: String?, retryAfter: Duration? = nil
    ) -> SyncError {
        let reason = message.map { ": \($0)" } ?? "."
        return SyncError(
            .serviceUnavailable, "The service is not available (status \(status))\(reason)", mayRetry: true,
            retryAfter: retryAfter)
    }
}

extension RemoteCall {
    fileprivate var isInsert: Bool {
        if case .insert = action { true } else { false }
    }
}

extension SyncError {
    /// The error of a path that the server does not have. The client's URL may be wrong as well as the table's name.
    static func tableNotOnServer(_ table: String, below url: URL?) -> SyncError {
        let shown = url?.withoutSecrets.map { " '\($0)'" } ?? ""
        let remedy =
            url?.endsInTables == true
            ? "The URL must not contain '/tables', which the client adds: remove it from the URL."
            : "Check the name and the URL."
        return SyncError(
            .tableNotOnServer,
            "The server has no table '\(table)': it does not know 'tables/\(table)' below the client's URL\(shown). \(remedy)"
        )
    }
}

extension URL {
    /// The text of the URL without user name, password, query and fragment; `nil` if it has no such text.
    fileprivate var withoutSecrets: String? {
        guard var parts = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return nil }
        parts.user = nil
        parts.password = nil
        parts.query = nil
        parts.fragment = nil
        return parts.string
    }

    /// Whether the last part of the path is the one that the client adds.
    fileprivate var endsInTables: Bool {
        pathComponents.last(where: { $0 != "/" })?.lowercased() == "tables"
    }
}
