// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncModels

enum Priority: String, FieldValue { case low, normal, high }

struct TodoList: SyncModel, Equatable {
    var id = SyncID<TodoList>(), name = ""
    static let schema = ModelSchema("TodoList", TodoList(), .field("name", \.name))
}

struct Todo: SyncModel, Equatable {
    var id = SyncID<Todo>()
    var text = "", complete = false, priority = Priority.normal, due: Date?, list: TodoList.ID?,
        tags: [String] = []
    static let schema = ModelSchema(
        "TodoItem", Todo(), .field("text", \.text), .field("complete", \.complete, .indexed),
        .field("priority", \.priority), .field("due", \.due), .field("listId", \.list, .indexed),
        .json("tags", \.tags))
}

/// A model with merge policies, local-only and required columns, and properties that the server sets.
struct Page: SyncModel, Equatable {
    var id = SyncID<Page>()
    var title = "untitled"
    var views = 0
    var readers: Set<String> = []
    var note = ""
    var body = ""
    var changed: Timestamp?
    var isOpen = false
    var sync = SystemProperties()
    var more: [String: ItemValue] = [:]
    static let schema = ModelSchema(
        "Page", Page(), .field("title", \.title, .required), .field("views", \.views, merging: .counter),
        .json("readers", \.readers, merging: .union), .field("note", \.note, .localOnly),
        .field("body", \.body), .field("changed", \.changed), .transient(\.isOpen), .system(\.sync),
        .unknown(\.more))
}
