// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation

extension SyncError: LocalizedError {
    /// The message, so that `localizedDescription` is the same sentence.
    public var errorDescription: String? { message }

    /// What the app or the user can do; `nil` when that depends on more than the code.
    public var recoverySuggestion: String? {
        switch code {
        case .authenticationRequired where !mayRetry, .pushAbortedAuthentication where !mayRetry:
            "Sign in again, then try again. Local changes are kept."
        case .networkUnavailable, .pushAbortedNetwork:
            isOffline ? "Check the connection and try again. Local changes are kept." : nil
        case .pullAborted:
            causeOfEnd?.recoverySuggestion ?? (mayRetry ? "Try again later." : nil)
        case .purgeRefused: "Push the pending changes first, or purge with .discard to drop them."
        case .preconditionFailed, .itemAlreadyOnServer: "Resolve the conflict, then push again."
        case .invalidConfiguration: "Correct the configuration of the client. Trying again does not help."
        default: mayRetry ? "Try again later." : nil
        }
    }
}

extension StoreError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

extension TableOperationError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
}

extension NetworkFailure: LocalizedError {
    /// The message of the ``SyncError`` that this error causes.
    public var errorDescription: String? { message }
}

extension PushFailure: LocalizedError {
    /// The failed operations, and the cause of the error that ended the push.
    public var errorDescription: String? { description }
}

extension ServerConflict: LocalizedError {
    /// The description, which contains no fields.
    public var errorDescription: String? { description }
}

extension JSONError: LocalizedError {
    /// The offset and the problem.
    public var errorDescription: String? { description }
}

extension HTTPBodyLimitExceeded: LocalizedError, CustomStringConvertible {
    /// The status and the limit.
    public var description: String {
        "The body of the response with status \(status) is longer than the \(limit) bytes that the transport accepts."
    }

    /// The description.
    public var errorDescription: String? { description }
}
