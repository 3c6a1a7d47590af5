// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An error of the sync framework: a code for programs, a message for people, and the cause.
public struct SyncError: Error, Sendable {
    /// What went wrong.
    public let code: Code
    /// A sentence that says what happened and what to do. It never contains tokens or other headers.
    public let message: String
    /// The error that caused this one.
    public let cause: (any Error)?
    /// Whether the same call may succeed later without the app changing anything.
    public let mayRetry: Bool
    /// The wait that the server asks for before the next request.
    public let retryAfter: Duration?
    /// What the failure that has ended a push may be about.
    var pushEndingScope = PushEnding.Scope.service

    /// Makes an error.
    public init(
        _ code: Code, _ message: String, cause: (any Error)? = nil, mayRetry: Bool = false,
        retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.mayRetry = mayRetry
        self.retryAfter = retryAfter
    }
}

extension Error {
    /// The description. Foundation's error of an app's own request names the URL, which can contain a secret: of such an error,
    /// the code only.
    package var textWithoutURL: String {
        if let error = self as? URLError { "\(URLError(error.code))" } else { "\(self)" }
    }
}

extension SyncError: CustomStringConvertible {
    /// The message, the code and the cause.
    public var description: String {
        var text = cause?.textWithoutURL ?? ""
        // The error that ended a push may be the cause too, after the errors of operations.
        let sentence = message + code.suffix
        if text.hasSuffix(sentence) {
            text.removeLast(sentence.count)
            if text.hasSuffix("\n") { text.removeLast() }
        }
        // The message of a store's error, or of the error that ended a push, is part of this message.
        let known = (self.cause as? StoreError)?.message ?? causeOfEnd?.message
        if let known, message.hasSuffix(known), text.hasPrefix(known) {
            text = String(text.dropFirst(known.count + 1))
        }
        return sentence + (text.isEmpty ? "" : " Cause: \(text)")
    }
}

extension SyncError {
    /// The error that has caused this one, also beside the failures of a push.
    var causeOfEnd: SyncError? { ((cause as? PushFailure)?.underlying ?? cause) as? SyncError }

    static func invalidDefinition(_ message: String) -> SyncError {
        SyncError(.invalidTableDefinition, message)
    }

    package static func contextClosed(cause: (any Error)? = nil) -> SyncError {
        SyncError(
            .contextInvalid, "The sync context is closed. Open the store again, and make a new context.",
            cause: cause)
    }
}
