// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Done: TodoCommand {
    static let configuration = CommandConfiguration(abstract: "Mark an item as done.")

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    @Flag(help: "Mark the item as not done.")
    var undo = false

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.setComplete(id, !undo) }
}

extension TodoApp {
    /// Marks the item whose id begins with the prefix as done or not done.
    func setComplete(_ prefix: String, _ isComplete: Bool) async throws {
        let item = try await table.update(item(prefix).id) { $0.complete = isComplete }
        try await report(isComplete ? "Done:" : "Not done:", item)
    }
}
