// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// An item of a scan, in which a filter finds columns by their positions.
package struct ItemRow: ScannedRow {
    package let item: Item
    private let places: FieldPlaces

    /// Where the columns of a filter were in the item before, as most items have one layout; reused for each item.
    package final class FieldPlaces {
        fileprivate var positions: [Int]

        package init(of filter: PreparedFilter) { positions = Array(filter.columns.indices) }
    }

    package init(_ item: Item, places: FieldPlaces) {
        self.item = item
        self.places = places
    }

    package subscript(name: String) -> ItemValue? { item[name] }

    package func truth(of condition: ColumnCondition) -> Bool? {
        let value = item.content.value(of: condition.name, at: &places.positions[condition.position])
        return condition.truth(for: value ?? .null)
    }

    package func read(_ layout: FieldLayout, into values: inout RowValues) {
        values.read(item, columns: layout.names)
    }
}
