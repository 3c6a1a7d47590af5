// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore

struct Sync: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push the queued changes, then pull what is new.",
        discussion: ConflictOptions.explanation)

    @OptionGroup var conflicts: ConflictOptions
    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.sync(onConflict: conflicts.choice) }
}

extension TodoApp {
    /// Pushes, asking about conflicts, then pulls. Items that are left in conflict keep the client's value.
    ///
    /// - Throws: as ``conclude(_:pullFailure:)``.
    func sync(onConflict choice: ConflictChoice?) async throws {
        let outcome = try await pushAsking(onConflict: choice)
        do {
            try await pullShowing()
        } catch let error as SyncError {
            return try conclude(outcome, pullFailure: await explained(error).localizedDescription)
        }
        try conclude(outcome)
    }
}
