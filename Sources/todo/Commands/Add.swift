// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Add: TodoCommand {
    static let configuration = CommandConfiguration(abstract: "Add an item.")

    @Argument(help: "The item's text. \(TodoItem.dashHelp)")
    var text: String

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        try TodoItem.validate(text: text)
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
