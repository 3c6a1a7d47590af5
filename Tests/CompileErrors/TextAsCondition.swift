// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

let query = Todo.where { _ in "complete" }  // error: 'String' conform to 'Condition'
