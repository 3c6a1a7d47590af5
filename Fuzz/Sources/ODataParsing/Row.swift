// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The part of a server's row that filters read.
struct TableRow {
    let id: String
    let fields: [String: ItemValue]
    let createdAt = Timestamp.unixEpoch
    let updatedAt = Timestamp.unixEpoch
    let version = "1"
    let deleted = false
}

/// The name space of the dialects.
public enum TableServer {}

/// A text that sorts by its UTF-8 bytes.
struct UTF8Text: Comparable {
    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    static func < (left: UTF8Text, right: UTF8Text) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
