// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A stored item whose columns are decoded on demand. Reading a column does not detect damage in the bytes after it;
/// decoding the whole item detects all damage.
package struct StoredRow: ColumnReading {
    private let id: UnsafeRawBufferPointer
    private let bytes: UnsafeRawBufferPointer
    private let cache: ColumnCache

    /// Caches the decoded columns of the current row, because a filter may read one many times; reused for each row.
    package final class ColumnCache {
        fileprivate var values: [(name: String, value: ItemValue?)] = []

        package init() {}
    }

    /// - Parameters:
    ///   - id: the UTF-8 bytes of the id.
    ///   - bytes: the stored form, see ``Item/bytes``.
    ///   - cache: the cache to clear and use.
    package init(id: UnsafeRawBufferPointer, bytes: UnsafeRawBufferPointer, cache: ColumnCache) {
        self.id = id
        self.bytes = bytes
        self.cache = cache
        cache.values.removeAll(keepingCapacity: true)
    }

    package subscript(name: String) -> ItemValue? {
        get throws(StoreError) {
            if let known = cache.values.first(where: { $0.name == name }) { return known.value }
            let value = try read(name)
            cache.values.append((name, value))
            return value
        }
    }

    private func read(_ name: String) throws(StoreError) -> ItemValue? {
        if name == "id" { return .text(try id.text()) }
        var reader = ByteReader(bytes)
        if SystemProperties.names.contains(name) {
            return Item(id: "", system: try reader.systemProperties())[name]
        }
        try reader.skipSystemProperties()
        return try reader.field(named: name)
    }

    /// Decodes the item. When `names` is not `nil`, decodes only the fields that it contains.
    package func item(keeping names: FieldNames?) throws(StoreError) -> Item {
        try Item(id: id.text(), bytes: bytes, keeping: names)
    }

    /// Decodes the columns of these names.
    package func read(_ names: FieldNames, into row: inout RowValues) throws(StoreError) {
        row.id = try id.text()
        var reader = ByteReader(bytes)
        row.system = try reader.systemProperties()
        try reader.fields(names, into: &row.values)
    }
}
