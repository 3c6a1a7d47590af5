// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Finds columns in items, one item after another: the positions of the columns are looked up once for all items that
/// share a layout.
@usableFromInline package final class ColumnPositions {
    /// The columns to find.
    let columns: FieldLayout
    /// The layout of the last item, and the position of each column in it.
    private var layout: FieldLayout?
    private var positions: [Int?] = []

    @usableFromInline package init(of columns: some Sequence<String>) { self.columns = FieldLayout(columns) }

    /// Reads the value of each column of the item, null if it has none.
    func read(_ item: Item, into values: inout [ItemValue]) {
        if let layout = item.content.layout {
            item.content.read(positions(in: layout), into: &values)
        } else {
            for (index, name) in columns.names.enumerated() { values[index] = item.content[name] ?? .null }
        }
    }

    private func positions(in layout: FieldLayout) -> [Int?] {
        if layout !== self.layout {
            positions = columns.names.map { layout.position(of: $0) }
            self.layout = layout
        }
        return positions
    }
}
