// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A stored item whose columns are decoded on demand. Reading a column does not detect all damage in the other ones;
/// decoding the whole item does.
package struct StoredRow: ScannedRow {
    private let id: UnsafeRawBufferPointer
    private let bytes: UnsafeRawBufferPointer
    private let places: FieldPlaces

    /// Where the fields that a filter reads are in the current row; reused for each row.
    package final class FieldPlaces {
        /// The columns of the filter: see ``PreparedFilter/columns``.
        fileprivate let columns: [String]
        private let layout: FieldLayout
        /// For each column, where its value begins; 0 when the row does not have the field.
        fileprivate let offsets: UnsafeMutableBufferPointer<Int>

        package init(of filter: PreparedFilter) {
            columns = filter.columns
            layout = FieldLayout(columns)
            offsets = .allocate(capacity: columns.count)
        }

        deinit { offsets.deallocate() }

        fileprivate func find(in bytes: UnsafeRawBufferPointer) throws(StoreError) {
            guard !offsets.isEmpty else { return }
            offsets.update(repeating: 0)
            var reader = ByteReader(bytes)
            try reader.skipSystemProperties()
            try reader.findFields(of: layout, offsets)
        }
    }

    /// - Parameters:
    ///   - id: the UTF-8 bytes of the id.
    ///   - bytes: the stored form, see ``Item/bytes``.
    ///   - places: the places to fill and use.
    package init(id: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer, places: FieldPlaces)
        throws(StoreError)
    {
        self.id = id
        self.bytes = bytes
        self.places = places
        try places.find(in: bytes)
    }

    package func truth(of condition: ColumnCondition) throws(StoreError) -> Bool? {
        let offset = places.offsets[condition.position]
        return try offset == 0
            ? condition.truth(for: .null) : ByteReader.truth(of: condition, at: offset, in: bytes)
    }

    package subscript(name: String) -> ItemValue? {
        get throws(StoreError) {
            for position in places.offsets.indices where places.columns[position] == name {
                let offset = places.offsets[position]
                return offset == 0 ? .none : .some(try ByteReader.value(at: offset, in: bytes))
            }
            if name == "id" { return .text(try id.text()) }
            var reader = ByteReader(bytes)
            if SystemProperties.names.contains(name) {
                return Item(id: "", system: try reader.systemProperties())[name]
            }
            try reader.skipSystemProperties()
            return try reader.field(named: name)
        }
    }

    /// Decodes the item. When `layout` is not `nil`, decodes only the fields that it has.
    package func item(keeping layout: FieldLayout?) throws(StoreError) -> Item {
        try Item(id: id.text(), bytes: bytes, keeping: layout)
    }

    /// Decodes the columns.
    package func read(_ columns: ColumnPositions, into row: inout RowValues) throws(StoreError) {
        row.id = try id.text()
        var reader = ByteReader(bytes)
        row.system = try reader.systemProperties()
        try reader.fields(columns.columns, into: &row.values)
    }
}
