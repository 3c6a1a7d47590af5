// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncCore

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
        let result =
            switch choice {
            case .client: "The next push sends the client's value."
            case .server: "The item now has the server's value."
            case .cancel: "The change is left pending."
            }
        console.print(result)
    }
}
