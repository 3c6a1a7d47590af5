// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels

/// The to-do list of one device, and the console of its user. The files of the subcommands add what it can do.
struct TodoApp: Sendable {
    let context: SyncContext
    let console: Console
    /// The store's name and location, for `todo status`.
    let storeName: String
    /// Whether plain HTTP to other hosts is allowed.
    var allowsInsecureHTTP = false

    var table: ModelTable<TodoItem> { context.table(TodoItem.self) }

    /// The server's address.
    var server: String { context.client.url.absoluteString }

    /// Returns the number of pending changes as text; `nil` when there are none.
    func queuedDescription() async throws -> String? {
        let count = try await context.pendingOperationCount()
        return count == 0 ? nil : count == 1 ? "1 change is queued" : "\(count) changes are queued"
    }

    /// Prints what was done with an item, and the number of pending changes.
    func report(_ action: String, _ item: TodoItem) async throws {
        let ids = ShortIDs(try await table.fetch().map(\.id.text) + [item.id.text])
        let queue = try await queuedDescription().map { " (\($0))" } ?? ""
        console.print("\(action) \(ids.short(item.id.text)) \"\(item.text.printable.shortened())\"\(queue)")
    }
}
