// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

// Code unrelated to sync. It must compile in the same way with and without the import.

func isSame(_ name: String, as other: String?) -> Bool {
    name == other
}

func isAbove(_ count: Int, limit: Int) -> Bool {
    count > limit && limit != 0
}

func indices(of texts: [String], equalTo text: String?) -> [Int] {
    texts.indices.filter { texts[$0] == text }
}
