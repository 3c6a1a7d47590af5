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
        if error.has(.tableNotOnServer) { return missingTable + (await whatWaits()) }
        if error.has(.networkUnavailable) || error.has(.pushAbortedNetwork) {
            return "The server \(server) cannot be reached. You can go on working offline."
                + (await whatWaits())
        }
        if error.has(.authenticationRequired) || error.has(.pushAbortedAuthentication) {
            return "The server \(server) asks to sign in, which this app cannot do." + (await whatWaits())
        }
        return "\(error.message) (code \(error.code.rawValue))"
    }

    /// That the server lacks the table.
    var missingTable: String { "The server \(server) has no table '\(TodoItem.definition.name)'." }

    /// How many changes stay in the queue, as a sentence to append; empty when there are none.
    func whatWaits() async -> String {
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

    fileprivate func has(_ code: Code) -> Bool {
        self.code == code || causes.contains { ($0 as? SyncError)?.code == code }
    }

    fileprivate var isFailureOfStore: Bool { has(.storeFailure) || has(.pushAbortedStore) }
}
