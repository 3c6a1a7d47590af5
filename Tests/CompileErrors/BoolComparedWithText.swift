// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

let done = Todo.where { $0.complete == "yes" }  // error: 'Term<Todo, Bool>' and 'String'
