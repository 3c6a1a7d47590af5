// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncCore

struct ResolveConflict: TodoCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Decide what becomes of a change.",
        discussion: """
            client: the next push sends the change again, on top of what the server has now.
            server: the change is dropped, and the item becomes what the server has.
            cancel: everything stays as it is; the next sync asks again.
            """)

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    @Option(name: .customLong("use"), help: "Whose value to use.")
    var choice: ConflictChoice

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.resolve(id, by: choice) }
}

extension TodoApp {
    /// Settles the conflict of the item whose id begins like this.
    func resolve(_ prefix: String, by choice: ConflictChoice) async throws {
        let error = try await operationError(prefix)
        try await settle(error, by: choice)
        let result =
            switch choice {
            case .client: "The next push sends the client's value."
            case .server: "The item is as the server has it."
            case .cancel: "The change is left pending."
            }
        console.print(result)
    }
}
