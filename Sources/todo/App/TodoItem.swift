// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

/// A to-do item.
struct TodoItem: SyncModel {
    var id = SyncID<TodoItem>()
    var text = ""
    var complete = false

    static let schema = ModelSchema(
        "TodoItem", TodoItem(), .field("text", \.text), .field("complete", \.complete, .indexed))
    /// The query ID of the incremental pull of the whole table.
    static let queryID = "all"
}

// Conflicts have items of the table, because a side may be deleted.
extension Item {
    /// The text of a to-do item.
    var text: String { self["text"]?.textValue ?? "" }

    /// Whether a to-do item is done.
    var isComplete: Bool { self["complete"] == true }
}
