// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

let found = Todo.where { $0.count.contains("1") }  // error: 'Int' conform to 'TextFieldValue'
