// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Decides which responses and errors end a push, and with which error.
///
/// They say nothing about the operation: no response, no sign-in, a service that is not answering, a client that cannot
/// send any request, a store that fails. The operation stays pending and is not counted towards ``Parking``. All other
/// failures belong to the operation, and the push goes on.
struct PushEnding: Sendable {
    /// The error that the push throws.
    let error: SyncError
    /// The status of the response, if there was one.
    let status: Int?

    /// What the failure may be about.
    enum Scope {
        /// The user, the network or the whole service.
        case service
        /// The operation only: see ``ResponseClassification/mayBeOfRequest(_:)``.
        case operation
        /// The operation only, if it fails again and again: its request may have reached the server, which has not answered it.
        /// See ``UnansweredOperations``.
        case unansweredOperation
        /// The operation only, if pushes end at it again and again: see ``UnauthorizedOperations``.
        case unauthorizedOperation
    }

    /// Returns the ending for an outcome; `nil` when the push goes on.
    init?(_ outcome: AttemptOutcome, now: Timestamp) {
        switch outcome {
        case .unauthenticated(let status):
            let cause = SyncError(.authenticationRequired, "The server answered with status \(status).")
            var error = SyncError(
                .pushAbortedAuthentication, "The server requires the user to sign in.", cause: cause)
            error.pushEndingScope = .unauthorizedOperation
            (self.error, self.status) = (error, status)
        case .unavailable(let status, let message, let retryAfter):
            let delay = RetryAfter.delay(retryAfter, now: now)
            let cause = SyncError.serviceUnavailable(status: status, message: message, retryAfter: delay)
            var error = SyncError(
                .pushAbortedService, cause.message, cause: cause, mayRetry: true, retryAfter: delay)
            if ResponseClassification.mayBeOfRequest(status) {
                error.pushEndingScope = .operation
            } else if !ResponseClassification.isOfService(status) {
                error.pushEndingScope = .unansweredOperation
            }
            (self.error, self.status) = (error, status)
        case .succeeded, .rowNeeded, .continues, .conflict, .refused, .notApplied, .unknown:
            return nil
        }
    }

    /// Returns the ending for a request that could not be sent or had no response; `nil` when the push goes on.
    init?(sending failure: SyncError) {
        switch failure.code {
        case .networkUnavailable:
            var error = SyncError(
                .pushAbortedNetwork, failure.message, cause: failure.cause, mayRetry: failure.mayRetry)
            let isOfConnection = (failure.cause as? NetworkFailure)?.isOfConnection ?? false
            if !isOfConnection, failure.mayRetry { error.pushEndingScope = .unansweredOperation }
            self.error = error
        case .authenticationRequired:
            error = SyncError(
                .pushAbortedAuthentication, failure.message, cause: failure.cause, mayRetry: failure.mayRetry)
        case .invalidConfiguration, .contextInvalid:
            error = failure
        default:
            return nil
        }
        status = nil
    }
}

extension PushEnding {
    /// The error of a push that does not send a correction yet: see ``SyncContext/waitToCorrect(_:item:_:)``.
    static var correctionWaits: SyncError {
        var error = SyncError(
            .pushAbortedNetwork,
            "The server has not answered the requests for this item. The corrected item is sent when none of them can still arrive.",
            mayRetry: true)
        error.pushEndingScope = .unansweredOperation
        return error
    }

    /// The error of a push that its delegate has cancelled.
    static var cancelledByDelegate: SyncError {
        SyncError(.pushAbortedCancelled, "The delegate cancelled the push.")
    }

    /// Returns the error of a push whose store cannot be locked.
    static func lockFailed(_ cause: any Error) -> SyncError {
        .pushAbortedStore("The store cannot be locked for a push", cause)
    }

    /// Returns the error of a push after a number of operations in a row without confirmation.
    static func tooManyServerErrors(_ count: Int, last: TableOperationError) -> SyncError {
        SyncError(
            .pushAbortedService,
            "The service answered \(count) operations in a row with an error and confirmed none. Push again later. "
                + last.message,
            cause: last,
            mayRetry: true)
    }

    /// Whether the error is that of ``tooManyServerErrors(_:last:)``, or the error of a push that it has ended.
    static func isTooManyServerErrors(_ error: any Error) -> Bool {
        let cause = (error as? SyncError)?.cause
        return ((cause as? PushFailure)?.underlying ?? cause) is TableOperationError
    }

    /// Whether an error that ``PushOperation/execute()`` throws ends the push. An operation's own failure does not, nor
    /// does an invalid item, which the delegate can correct, nor a cancellation: the delegate may have cancelled its own task,
    /// for example at a time limit.
    static func isEnding(_ error: any Error) -> Bool {
        switch error {
        case is TableOperationError, is CancellationError: false
        case let error as SyncError: ![.invalidItem, .invalidItemID].contains(error.code)
        default: true
        }
    }

    /// Returns the push's own error for the error that ended it.
    static func pushError(for error: any Error) -> SyncError {
        switch error {
        case let error as SyncError where error.code == .storeFailure:
            .pushAbortedStore("The push ended because the local store failed", error.cause)
        case let error as SyncError: error
        default: SyncError(.internalError, "The push ended unexpectedly.", cause: error)
        }
    }
}
