// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The to-do table of the scenarios, with a column of each type and a local-only column.
enum Todo {
    static let name = "TodoItem"
    static let text = SyncColumn("text", .text)
    static let complete = SyncColumn("complete", .bool, isIndexed: true)
    static let priority = SyncColumn("priority", .integer)
    static let price = SyncColumn("price", .double)
    static let due = SyncColumn("due", .date)
    static let photo = SyncColumn("photo", .data)
    static let tags = SyncColumn("tags", .json)
    static let note = SyncColumn("note", .text, isLocalOnly: true)
    static let definition = SyncTableDefinition(
        name, columns: [text, complete, priority, price, due, photo, tags, note])
    static let query = TableQuery(name)
}
