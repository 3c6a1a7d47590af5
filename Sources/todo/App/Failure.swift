// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncModels
import TableServer

/// An error with a message for the user. The command ends with exit code 1.
struct Failure: LocalizedError {
    let message: String

    /// - Parameter message: One line or more. It can contain ids and names of the server or of a file.
    init(_ message: String) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        self.message = lines.map { String($0).printable }.joined(separator: "\n")
    }

    var errorDescription: String? { message }
}

extension ExitCode {
    /// The exit code when conflicts are left pending.
    static let unresolvedConflicts = ExitCode(2)
}

extension TodoApp {
    /// Returns the error with a message for the user. Exit codes and usage errors are returned unchanged.
    func userFacingError(for error: any Error) async -> any Error {
        switch error {
        case is Failure, is ExitCode, is ValidationError, is CleanExit: return error
        case let error as StoreError: return Failure(error.message)
        case let error as SyncError: return Failure(await message(for: error))
        default: return Failure("\(error)")
        }
    }

    private func message(for error: SyncError) async -> String {
        if error.isStoreFailure {
            let reason = error.causes.compactMap { ($0 as? StoreError)?.message }.first
            return reason ?? error.message
        }
        if error.has(.tableNotOnServer) { return missingTableMessage + (await pendingSummary()) }
        if error.isOffline {
            return "The server \(server) cannot be reached. You can continue to work offline."
                + (await pendingSummary())
        }
        if error.has(.networkUnavailable) || error.has(.pushAbortedNetwork) {
            return error.innermost.message + (await pendingSummary())
        }
        if error.has(.serviceUnavailable) || error.has(.pushAbortedService) {
            return await unavailableServerMessage(error)
        }
        if error.has(.invalidConfiguration) {
            guard isInsecure else { return error.innermost.message + (await pendingSummary()) }
            return
                "Plain HTTP to \(server) is not allowed: others on the network could read and change the data. "
                + "Use an https address, or allow it with --insecure-http." + (await pendingSummary())
        }
        if error.has(.authenticationRequired) || error.has(.pushAbortedAuthentication) {
            return "The server \(server) requires users to sign in, which this app does not support."
                + (await pendingSummary())
        }
        if error.code == .pushCompletedWithErrors, let result = error.pushResult {
            return message(for: result.errors)
        }
        return "\(error.message) (code \(error.code.rawValue))"
    }

    /// Whether the transport refuses the server's address, because it is plain HTTP to another host.
    private var isInsecure: Bool {
        guard let origin = Origin(context.client.url) else { return false }
        return origin.scheme == "http" && !origin.isLoopback && !allowsInsecureHTTP
    }

    private func unavailableServerMessage(_ error: SyncError) async -> String {
        let reason = error.innermost.message
        let retryHint = error.layers.compactMap(\.retryAfter).first.map { delay in
            " Try again in \(delay.components.seconds) seconds."
        }
        return "The server \(server) is not available now. \(reason)\(reason.hasSuffix(".") ? "" : ".")"
            + (retryHint ?? "") + (await pendingSummary())
    }

    /// Returns a line for each change that a push did not complete, with its error, below a title.
    func message(for errors: [TableOperationError]) -> String {
        let lines = errors.map { error in
            let text = (error.item?.text ?? error.itemID).printable.shortened()
            return "  \(error.kind) \"\(text)\": \(error.message.printable) (code \(error.code.rawValue))"
        }
        return (["These changes failed and stay queued:"] + lines).joined(separator: "\n")
    }

    /// The message for a server without the table.
    var missingTableMessage: String { "The server \(server) has no table '\(TodoItem.schema.name)'." }

    /// Returns a sentence with the number of queued changes, to append to a message; empty when the queue is empty.
    func pendingSummary() async -> String {
        guard let queued = try? await queuedDescription() else { return "" }
        return " \(queued) and will be sent by a later sync."
    }
}

extension SyncError {
    /// The underlying errors, from the outermost to the root cause.
    fileprivate var causes: [any Error] {
        var causes: [any Error] = []
        var next = cause
        while let error = next {
            causes.append(error)
            next = (error as? SyncError)?.cause ?? (error as? PushFailure)?.underlying
        }
        return causes
    }

    /// This error and the underlying errors of the framework.
    fileprivate var layers: [SyncError] { [self] + causes.compactMap { $0 as? SyncError } }

    /// The framework's error that is nearest to the root cause.
    fileprivate var innermost: SyncError { layers.last ?? self }

    fileprivate func has(_ code: Code) -> Bool {
        layers.contains { $0.code == code }
    }

    fileprivate var isStoreFailure: Bool { has(.storeFailure) || has(.pushAbortedStore) }
}
