// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

let ordered = Todo.all.order(by: \.txt)  // error: has no member 'txt'
