// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The stored item at which a scan is. Its columns are decoded on demand. Reading a column does not detect all damage in the
/// other ones; decoding the whole item does.
package final class StoredRow: ScannedRow {
    /// The UTF-8 bytes of the id.
    private var id = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The stored form, see ``Item/bytes``.
    private var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    /// The columns of the filter: see ``PreparedFilter/columns``.
    private let columns: FieldLayout
    /// For each column, where its value begins; 0 when the row does not have the field.
    private let offsets: UnsafeMutableBufferPointer<Int>
    /// The number of fields in front of these columns in an earlier row.
    private var firstField = 0

    /// Makes a row for a scan with the filter, which is moved to one item after another.
    package init(of filter: PreparedFilter) {
        columns = FieldLayout(filter.columns)
        offsets = .allocate(capacity: columns.count)
    }

    deinit { offsets.deallocate() }

    /// Moves to an item, whose memory must outlast all uses of the row until it moves again.
    ///
    /// - Parameters:
    ///   - id: the UTF-8 bytes of the id.
    ///   - bytes: the stored form, see ``Item/bytes``.
    package func move(toID id: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer) throws(StoreError) {
        (self.id, self.bytes) = (id, bytes)
        guard !offsets.isEmpty else { return }
        offsets.update(repeating: 0)
        var reader = ByteReader(bytes)
        try reader.skipSystemProperties()
        firstField = try reader.findFields(of: columns, offsets, after: firstField)
    }

    package func truth(of condition: ColumnCondition) throws(StoreError) -> Bool? {
        let offset = offsets[condition.position]
        return try offset == 0
            ? condition.truth(for: .null) : ByteReader.truth(of: condition, at: offset, in: bytes)
    }

    package subscript(name: String) -> ItemValue? {
        get throws(StoreError) {
            for position in offsets.indices where columns.names[position] == name {
                let offset = offsets[position]
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
