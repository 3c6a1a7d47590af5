// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Conflicts: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or resolve changes that the server refused.",
        subcommands: [ListConflicts.self, ResolveConflict.self], defaultSubcommand: ListConflicts.self)
}

struct ListConflicts: TodoCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the errors of the last pushes.")

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.listConflicts() }
}

extension TodoApp {
    /// Prints the operation errors.
    func listConflicts() async throws {
        let errors = try await errorsToDecide()
        // `resolve` also finds items without an error.
        let ids = ShortIDs(try await table.fetch().map(\.id.text) + errors.map(\.itemID))
        guard !errors.isEmpty else { return console.print("There are no conflicts.") }
        for error in errors {
            show(error, id: ids.short(error.itemID))
            console.print()
        }
        console.print("Resolve one with: todo conflicts resolve ID --use client|server|cancel")
    }
}
