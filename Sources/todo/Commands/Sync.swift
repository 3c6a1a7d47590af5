// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SyncCore

struct Sync: TodoCommand {
    static let configuration = CommandConfiguration(
        abstract: "Push the queued changes, then pull new and changed items.",
        discussion: ConflictOptions.explanation)

    @OptionGroup var conflicts: ConflictOptions
    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.sync(onConflict: conflicts.choice) }
}

extension TodoApp {
    /// Pushes, resolves conflicts, then pulls. Items with unresolved conflicts keep the client's value.
    ///
    /// - Throws: The errors of ``conclude(_:failure:)``.
    func sync(onConflict choice: ConflictChoice?) async throws {
        let outcome = try await outcomeOfPush(onConflict: choice)
        do {
            try await pullWithProgress()
        } catch let error as SyncError {
            return try conclude(outcome, failure: await userFacingError(for: error).localizedDescription)
        }
        try conclude(outcome)
    }
}
