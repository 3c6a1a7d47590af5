// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncModels

struct Note: SyncModel {  // error: does not conform to protocol 'SyncModel'
    var text = ""
    static let schema = ModelSchema("Note", Note(), .field("text", \.text))
}
