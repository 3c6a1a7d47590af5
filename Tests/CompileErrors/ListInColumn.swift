// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

struct Note: SyncModel {
    var id = SyncID<Note>()
    var tags: [String] = []
    static let schema = ModelSchema("Note", Note(), .field("tags", \.tags))  // error: .json
}
