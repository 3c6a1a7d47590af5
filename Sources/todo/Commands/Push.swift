// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore

struct Push: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Send the queued changes to the server.",
        discussion: ConflictOptions.explanation)

    @OptionGroup var conflicts: ConflictOptions
    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws {
        try await app.push(onConflict: conflicts.choice)
    }
}

extension TodoApp {
    /// Pushes and resolves conflicts.
    ///
    /// - Throws: The errors of ``conclude(_:failure:)``.
    func push(onConflict choice: ConflictChoice?) async throws {
        try conclude(try await outcomeOfPush(onConflict: choice))
    }

    /// Pushes and resolves conflicts. If that fails, reports the conflicts that are left pending with the failure.
    ///
    /// - Throws: ``ArgumentParser/ExitCode`` 2 when the push fails and conflicts remain; otherwise the error of the push.
    func outcomeOfPush(onConflict choice: ConflictChoice?) async throws -> PushOutcome {
        do {
            return try await pushResolvingConflicts(onConflict: choice)
        } catch {
            let conflicts = (try? await context.operationErrors().filter(\.isConflict).count) ?? 0
            if conflicts > 0 {
                try conclude(
                    PushOutcome(conflicts: conflicts),
                    failure: await userFacingError(for: error).localizedDescription)
            }
            throw error
        }
    }

    /// Reports the changes that a push did not complete, and another failure, if any.
    ///
    /// - Parameter failure: The message of the failed push, or of the failed pull after it.
    /// - Throws: ``ArgumentParser/ExitCode`` 2 when conflicts remain, also with other failures; otherwise ``Failure``
    ///   when a change, the push or the pull failed.
    func conclude(_ outcome: PushOutcome, failure: String? = nil) throws {
        var failures: [String] = []
        if !outcome.failures.isEmpty { failures.append(message(for: outcome.failures)) }
        if let failure { failures.append(failure) }
        guard outcome.conflicts > 0 else {
            guard failures.isEmpty else { throw Failure(failures.joined(separator: "\n")) }
            return
        }
        for failure in failures { console.printError(failure) }
        let count = outcome.conflicts == 1 ? "1 conflict is" : "\(outcome.conflicts) conflicts are"
        console.print("\(count) left pending: see `todo conflicts`. The next sync asks again.")
        throw ExitCode.unresolvedConflicts
    }
}
