// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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
    /// - Throws: The errors of ``conclude(_:pullFailure:)``.
    func push(onConflict choice: ConflictChoice?) async throws {
        try conclude(try await pushResolvingConflicts(onConflict: choice))
    }

    /// Reports the changes that a push did not complete, and the error of the pull after it, if any.
    ///
    /// - Parameter pullFailure: The error message of the pull.
    /// - Throws: ``ArgumentParser/ExitCode`` 2 when conflicts remain, also with other failures; otherwise ``Failure``
    ///   when a change or the pull failed.
    func conclude(_ outcome: PushOutcome, pullFailure: String? = nil) throws {
        var failures: [String] = []
        if !outcome.failures.isEmpty {
            failures.append(
                (["These changes failed and stay queued:"] + lines(of: outcome.failures))
                    .joined(separator: "\n"))
        }
        if let pullFailure { failures.append(pullFailure) }
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
