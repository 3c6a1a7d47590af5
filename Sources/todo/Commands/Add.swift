// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Add: TodoCommand {
    static let configuration = CommandConfiguration(abstract: "Add an item.")

    @Argument(help: "The item's text.")
    var text: String

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        if text.allSatisfy(\.isWhitespace) { throw ValidationError("The item's text cannot be empty.") }
    }

    func run(_ app: TodoApp) async throws { try await app.add(text) }
}

extension TodoApp {
    /// Adds an item to the list.
    func add(_ text: String) async throws {
        let item = try await table.insert(TodoItem(text: text))
        try await report("Added", item)
    }
}
