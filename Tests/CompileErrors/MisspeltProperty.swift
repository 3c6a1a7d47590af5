// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

struct Todo: SyncModel {
    var id = SyncID<Todo>()
    var text = ""
    static let schema = ModelSchema("TodoItem", Todo(), .field("text", \.txt))  // error: has no member 'txt'
}
