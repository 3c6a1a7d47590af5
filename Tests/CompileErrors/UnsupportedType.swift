// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

struct Todo: SyncModel {
    var id = SyncID<Todo>()
    var size = (width: 0, height: 0)
    static let schema = ModelSchema("TodoItem", Todo(), .field("size", \.size))  // error: 'FieldValue'
}
