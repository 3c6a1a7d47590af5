// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
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

extension TodoItem {
    /// Checks a text of the command line.
    ///
    /// - Throws: ``ArgumentParser/ValidationError``.
    static func validate(text: String) throws {
        if text.allSatisfy(\.isWhitespace) { throw ValidationError("The item's text cannot be empty.") }
        // Swift replaces bytes of an argument that are not UTF-8.
        if text.unicodeScalars.contains("\u{FFFD}") {
            throw ValidationError("The item's text must be UTF-8, without the character U+FFFD.")
        }
    }

    /// How a text that looks like an option is written.
    static let dashHelp = "Put -- before a text that begins with a dash."
}
