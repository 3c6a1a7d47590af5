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
    /// Pushes, asking about conflicts.
    ///
    /// - Throws: as ``conclude(_:)``.
    func push(onConflict choice: ConflictChoice?) async throws {
        try conclude(try await pushAsking(onConflict: choice))
    }

    /// Ends a push as its outcome deserves.
    ///
    /// - Throws: ``Failure`` when the server refused something; ``ArgumentParser/ExitCode`` 2 when conflicts remain.
    func conclude(_ outcome: PushOutcome) throws {
        if !outcome.refusals.isEmpty {
            let lines = outcome.refusals.map { refusal in
                "  \(refusal.kind) \"\((refusal.item?.text ?? refusal.itemID).printable)\": "
                    + "\(refusal.message) (code \(refusal.code.rawValue))"
            }
            throw Failure((["The server refused:"] + lines).joined(separator: "\n"))
        }
        guard outcome.conflicts == 0 else {
            let count = outcome.conflicts == 1 ? "1 conflict is" : "\(outcome.conflicts) conflicts are"
            console.print("\(count) left pending: see `todo conflicts`. The next sync asks again.")
            throw ExitCode.unresolvedConflicts
        }
    }
}
