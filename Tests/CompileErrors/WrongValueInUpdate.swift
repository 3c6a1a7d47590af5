// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

func complete(_ todos: ModelTable<Todo>, _ id: Todo.ID) async throws {
    try await todos.update(id) { $0.complete = "yes" }  // error: 'String' to type 'Bool'
}
