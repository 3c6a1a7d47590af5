// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

// The models of the other files.

struct TodoList: SyncModel {
    var id = SyncID<TodoList>()
    var name = ""
    static let schema = ModelSchema("TodoList", TodoList(), .field("name", \.name))
}

struct Todo: SyncModel {
    var id = SyncID<Todo>()
    var text = "", complete = false, count = 0, list: TodoList.ID?
    static let schema = ModelSchema(
        "TodoItem", Todo(), .field("text", \.text), .field("complete", \.complete), .field("count", \.count),
        .field("list", \.list))
}
