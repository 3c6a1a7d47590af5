// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct ResolveConflict: TodoCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Resolve a conflict.",
        discussion: """
            client: the next push sends the change again, based on the server's current item.
            server: the change is discarded, and the item becomes the server's.
            cancel: nothing changes; the next sync asks again.
            """)

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    @Option(name: .customLong("use"), help: "Whose value to use.")
    var choice: ConflictChoice

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.resolve(id, by: choice) }
}

extension TodoApp {
    /// Resolves the conflict of the item whose id begins with the prefix.
    func resolve(_ prefix: String, by choice: ConflictChoice) async throws {
        let error = try await operationError(prefix)
        try await resolve(error, by: choice)
        switch choice {
        case .client: console.print("The next push sends the client's value.")
        case .server:
            // The server has no item after a refused insert, or after a conflict with a deleted row.
            let item = try await table.raw.item(id: error.itemID)
            console.print(item == nil ? "The item was removed." : "The item now has the server's value.")
        case .cancel: console.print("The change is left pending.")
        }
    }
}
