// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

struct Note: SyncModel {
    var id = SyncID<Note>()
    var size = (width: 0, height: 0)
    static let schema = ModelSchema("Note", Note(), .field("size", \.size))  // error: 'FieldValue'
}
