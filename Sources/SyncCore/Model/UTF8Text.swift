// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A string that is compared and ordered by its UTF-8 bytes, not by canonical equivalence.
package struct UTF8Text: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: UTF8Text, right: UTF8Text) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package static func < (left: UTF8Text, right: UTF8Text) -> Bool {
        left.text.precedesInBytes(right.text)
    }
}

/// The identity of an item in the store: its table and id.
package struct ItemIdentity: Hashable, Comparable, Sendable {
    package let table: UTF8Text
    package let id: UTF8Text

    package init(table: String, id: String) {
        self.table = UTF8Text(table)
        self.id = UTF8Text(id)
    }

    package static func < (left: ItemIdentity, right: ItemIdentity) -> Bool {
        left.table == right.table ? left.id < right.id : left.table < right.table
    }
}
