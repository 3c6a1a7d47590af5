// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The table of to-do items.
enum TodoItem {
    static let text = SyncColumn("text", .text)
    static let complete = SyncColumn("complete", .bool, isIndexed: true)
    static let definition = SyncTableDefinition("TodoItem", columns: [text, complete])

    static let query = TableQuery(definition.name)
    /// The query ID of the incremental pull of the whole table.
    static let queryID = "all"
}

extension Item {
    /// The text of a to-do item.
    var text: String { self[TodoItem.text]?.textValue ?? "" }

    /// Whether a to-do item is done.
    var isComplete: Bool { self[TodoItem.complete]?.boolValue ?? false }
}
