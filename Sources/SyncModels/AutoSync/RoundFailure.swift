// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// What an error of a push or pull means for the rest of the round.
enum RoundFailure: Equatable {
    /// The server requires the user to sign in.
    case unauthenticated
    /// The server, the network or the store is not available: other requests may fail too.
    case unavailable(retryAfter: Duration?)
    /// The pull of this plan failed, others may succeed.
    case ofPlan(mayRetry: Bool)

    init(_ error: SyncError) {
        let cause = error.causeOfPull
        switch cause.code {
        case _ where cause.isOfItem:
            // The app can change its table, and the server its row.
            self = .ofPlan(mayRetry: true)
        case .authenticationRequired, .pushAbortedAuthentication:
            // The refresh of a token can succeed later.
            self = cause.mayRetry ? .unavailable(retryAfter: nil) : .unauthenticated
        case .networkUnavailable, .serviceUnavailable, .pushAbortedNetwork, .pushAbortedService,
            .pushAbortedStore, .pushAbortedCancelled, .storeFailure, .storeOfAnotherUser, .contextInvalid,
            .invalidConfiguration, .internalError:
            self = .unavailable(retryAfter: error.retryAfter)
        default:
            // A server that asks for a wait is not asked for other tables either.
            self = error.retryAfter.map { .unavailable(retryAfter: $0) } ?? .ofPlan(mayRetry: error.mayRetry)
        }
    }

    /// Returns a failure of the plan only, if it may fail alone: the server may answer each request but this one.
    func ofPlan(if mayFailAlone: Bool) -> RoundFailure {
        mayFailAlone && self == .unavailable(retryAfter: nil) ? .ofPlan(mayRetry: true) : self
    }
}

extension SyncError {
    /// The error of the request that ended a pull; for other errors, the error itself.
    fileprivate var causeOfPull: SyncError { code == .pullAborted ? cause as? SyncError ?? self : self }

    /// Whether other pulls may succeed although one has thrown this error.
    var permitsOtherPulls: Bool { if case .ofPlan = RoundFailure(self) { true } else { false } }

    /// Whether a pull has thrown this error before a request because its plan is not valid.
    var isOfPlan: Bool {
        code != .pullAborted && !isOfItem && RoundFailure(self) == .ofPlan(mayRetry: mayRetry)
    }

    /// Whether the server has refused a request about a table: it does not have the table, does not show it, or cannot evaluate
    /// the query.
    var isRefusal: Bool {
        let error = causeOfPull
        return error.code == .tableNotOnServer
            || !error.mayRetry && [.serverError, .serverErrorWithoutMessage].contains(error.code)
    }

    /// Whether the server has answered the pull that has thrown this error: it has refused a request, or a constraint of the
    /// app's own table has refused a row that it has sent. A damaged store can fail before the first request.
    var showsAnswer: Bool { isRefusal || (cause as? StoreError)?.code == .schemaMismatch }

    /// Whether the first response to a request to the change feed shows that the server has none. The error of a web
    /// page, which captive portals send, has another code.
    var showsNoChangeFeed: Bool { isRefusal || code == .unreadableResponse }
}
