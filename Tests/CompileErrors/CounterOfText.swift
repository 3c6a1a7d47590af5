// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

struct Note: SyncModel {
    var id = SyncID<Note>()
    var text = ""
    static let schema = ModelSchema(
        "Note", Note(), .field("text", \.text, merging: .counter))  // error: counter needs an integer
}
