// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

// Code that has nothing to do with sync and compiles as it does without the import.

func isSame(_ name: String, as other: String?) -> Bool {
    name == other
}

func isAbove(_ count: Int, limit: Int) -> Bool {
    count > limit && limit != 0
}

func indices(of texts: [String], equalTo text: String?) -> [Int] {
    texts.indices.filter { texts[$0] == text }
}
