// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

func todos(of todo: Todo) -> ModelQuery<Todo> {
    Todo.where { $0.list == todo.id }  // error: value of type 'SyncID<Todo>'
}
