// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The index of one column: one key per item whose value is not null, made of the encoded value and the item's id.
struct ColumnIndex {
    let column: IndexedColumn
    let prefix: [UInt8]

    init(_ column: IndexedColumn, of table: String) {
        self.column = column
        prefix = StoreKey.index(of: column.name, of: table)
    }

    /// Returns the index key of an item, or `nil` when its value is null.
    func key(_ item: Item) -> [UInt8]? {
        column.encodedValue(of: item).map { prefix + $0 + Array(item.id.utf8) }
    }

    /// Returns the value stored under an index key: the length of the id at the end of the key.
    func value(id: String) -> [UInt8] {
        var value = ByteWriter()
        value.append(varint: id.utf8.count)
        return value.array
    }

    func id(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(StoreError) -> String {
        var reader = ByteReader(value)
        let count = try reader.varint()
        try reader.requireEnd(of: "an index entry")
        guard (0...key.count).contains(count) else {
            throw StoreError(.corrupt, "The store is damaged: an index entry is invalid.")
        }
        return try UnsafeRawBufferPointer(rebasing: key.suffix(count)).text()
    }
}
