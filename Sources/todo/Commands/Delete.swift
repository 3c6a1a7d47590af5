// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SyncModels

struct Delete: TodoCommand {
    static let configuration = CommandConfiguration(abstract: "Delete an item.")

    @Argument(help: "The item's id, or the beginning of it.")
    var id: String

    @OptionGroup var options: GlobalOptions

    func run(_ app: TodoApp) async throws { try await app.delete(id) }
}

extension TodoApp {
    /// Deletes the item whose id begins with the prefix.
    func delete(_ prefix: String) async throws {
        let item = try await item(prefix)
        try await table.delete(item.id)
        try await report("Deleted", item)
    }
}
