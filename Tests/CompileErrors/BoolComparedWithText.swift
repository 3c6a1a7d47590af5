// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

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

let done = Todo.where { $0.complete == "yes" }  // error: 'Term<Todo, Bool>' and 'String'
