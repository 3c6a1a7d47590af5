// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Edit: TodoCommand {
    static let configuration = CommandConfiguration(abstract: "Change the text of an item.")

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    @Argument(help: "The new text. \(TodoItem.dashHelp)")
    var text: String

    @OptionGroup var options: GlobalOptions

    func validate() throws {
        try TodoItem.validate(text: text)
    }

    func run(_ app: TodoApp) async throws { try await app.edit(id, text: text) }
}

extension TodoApp {
    /// Changes the text of the item whose id begins with the prefix.
    func edit(_ prefix: String, text: String) async throws {
        try await report("Changed", table.update(item(prefix).id) { $0.text = text })
    }
}
