// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Text as a key: equal and ordered by its bytes, where Swift's own comparison follows canonical equivalence.
package struct ExactText: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    package static func < (left: ExactText, right: ExactText) -> Bool {
        left.text.precedesInBytes(right.text)
    }
}

/// An item's id within all tables.
package struct ItemKey: Hashable, Comparable, Sendable {
    package let table: ExactText
    package let id: ExactText

    package init(table: String, id: String) {
        self.table = ExactText(table)
        self.id = ExactText(id)
    }

    package static func < (left: ItemKey, right: ItemKey) -> Bool {
        left.table == right.table ? left.id < right.id : left.table < right.table
    }
}
