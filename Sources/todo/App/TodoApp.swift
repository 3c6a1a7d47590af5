// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

/// The to-do list of one device, and the console on which it is worked with. What it can do is in the files of the
/// subcommands.
struct TodoApp: Sendable {
    let context: SyncContext
    let console: Console
    /// The store in the words of `todo status`.
    let storeName: String

    var table: SyncTable { context.table(TodoItem.definition.name) }

    /// The server's address as text.
    var server: String { context.client.url.absoluteString }

    /// How many changes wait for the next push, in words; `nil` when there are none.
    func queued() async throws -> String? {
        let count = try await context.pendingOperationCount()
        return count == 0 ? nil : count == 1 ? "1 change is queued" : "\(count) changes are queued"
    }

    /// Tells what was done to an item, and what that means for the queue.
    func report(_ deed: String, _ item: Item) async throws {
        let ids = ShortIDs(try await table.items().map(\.id) + [item.id])
        let queue = try await queued().map { " (\($0))" } ?? ""
        console.print("\(deed) \(ids.short(item.id)) \"\(item.text.printable.shortened())\"\(queue)")
    }
}
