// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore
import TableServer

/// Something that went wrong, in a sentence for the user. The command ends with exit code 1.
struct Failure: LocalizedError {
    let message: String

    init(_ message: String) {
        self.message = message
    }

    var errorDescription: String? { message }
}

extension ExitCode {
    /// Conflicts are left pending.
    static let unresolvedConflicts = ExitCode(2)
}

extension TodoApp {
    /// The error in the user's words; exit codes and wrong usage pass as they are.
    func explained(_ error: any Error) async -> any Error {
        switch error {
        case is Failure, is ExitCode, is ValidationError, is CleanExit: return error
        case let error as StoreError: return Failure(error.message)
        case let error as SyncError: return Failure(await sentence(for: error))
        default: return Failure("\(error)")
        }
    }

    private func sentence(for error: SyncError) async -> String {
        if error.isFailureOfStore {
            let reason = error.causes.compactMap { ($0 as? StoreError)?.message }.first
            return reason ?? error.message
        }
        if error.has(.tableNotOnServer) { return missingTable + (await pendingSummary()) }
        if error.isOffline {
            return "The server \(server) cannot be reached. You can go on working offline."
                + (await pendingSummary())
        }
        if error.has(.networkUnavailable) || error.has(.pushAbortedNetwork) {
            return error.innermost.message + (await pendingSummary())
        }
        if error.has(.serviceUnavailable) || error.has(.pushAbortedService) {
            return await unavailableServer(error)
        }
        if error.has(.invalidConfiguration), context.client.url.scheme?.lowercased() == "http" {
            return "Plain HTTP to \(server) is refused: others on the network could read and change it. "
                + "Use an https address, or allow it with --insecure-http." + (await pendingSummary())
        }
        if error.has(.authenticationRequired) || error.has(.pushAbortedAuthentication) {
            return "The server \(server) asks to sign in, which this app cannot do."
                + (await pendingSummary())
        }
        return "\(error.message) (code \(error.code.rawValue))"
    }

    private func unavailableServer(_ error: SyncError) async -> String {
        let reason = error.innermost.message
        let wait = error.layers.compactMap(\.retryAfter).first.map { delay in
            " It asks to wait \(delay.components.seconds) seconds."
        }
        return "The server \(server) is not available now. \(reason)\(reason.hasSuffix(".") ? "" : ".")"
            + (wait ?? "") + (await pendingSummary())
    }

    /// The changes that a push did not complete, one a line, with their errors.
    func lines(of errors: [TableOperationError]) -> [String] {
        errors.map { error in
            let text = (error.item?.text ?? error.itemID).printable.shortened()
            return "  \(error.kind) \"\(text)\": \(error.message) (code \(error.code.rawValue))"
        }
    }

    /// That the server lacks the table.
    var missingTable: String { "The server \(server) has no table '\(TodoItem.definition.name)'." }

    /// How many changes stay in the queue, as a sentence to append; empty when there are none.
    func pendingSummary() async -> String {
        guard let queued = try? await queued() else { return "" }
        return " \(queued) and will be sent by a later sync."
    }
}

extension SyncError {
    /// The errors underneath, from the outermost to the first cause.
    fileprivate var causes: [any Error] {
        var causes: [any Error] = []
        var next = cause
        while let error = next {
            causes.append(error)
            next = (error as? SyncError)?.cause ?? (error as? PushFailure)?.underlying
        }
        return causes
    }

    /// This error and those of the framework underneath.
    fileprivate var layers: [SyncError] { [self] + causes.compactMap { $0 as? SyncError } }

    /// The error of the framework that is nearest to the first cause.
    fileprivate var innermost: SyncError { layers.last ?? self }

    fileprivate func has(_ code: Code) -> Bool {
        layers.contains { $0.code == code }
    }

    fileprivate var isFailureOfStore: Bool { has(.storeFailure) || has(.pushAbortedStore) }
}
