// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

let named = Todo.where { _ in TodoList.where { $0.name == "Home" } }  // error: conform to 'Condition'
