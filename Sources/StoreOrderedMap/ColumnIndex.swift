// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The index of one column: one key per item whose value is not null, made of the encoded value and the item's id.
///
/// Encoded values sort in the order of ``Filter/Comparison``. Long values are truncated, so index lookups return
/// candidates that the filter must check.
struct ColumnIndex {
    let column: SyncColumn
    let prefix: [UInt8]

    /// Creates the index of a column that is declared as indexed and is comparable; returns `nil` for other columns.
    init?(_ column: SyncColumn, of table: String) {
        guard column.isIndexed, column.type != .json else { return nil }
        self.column = column
        prefix = StoreKey.index(of: column.name, of: table)
    }

    /// Returns the index key of an item, or `nil` when its value is null.
    func key(_ item: Item) -> [UInt8]? {
        guard let value = item.fields[column.name], let encoded = encode(value) else { return nil }
        return prefix + encoded + Array(item.id.utf8)
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
        guard (0...key.count).contains(count) else {
            throw StoreError(.corrupt, "The store is damaged: an index entry is invalid.")
        }
        return try UnsafeRawBufferPointer(rebasing: key.suffix(count)).text()
    }

    /// Returns the sortable encoding of a value, or `nil` when the index has no key for it: it is null or not a value
    /// of this column's type. Keys with the same encoded value are in the order of item ids.
    func encode(_ value: ItemValue) -> [UInt8]? {
        var bytes = ByteWriter()
        switch (column.type, value) {
        case (.bool, .bool(let bool)): bytes.append(bool ? 1 : 0)
        case (.integer, .int(let int)): bytes.append(ordered: int)
        case (.integer, .double(let double)):
            guard let int = Int64(exactly: double) else { return nil }
            bytes.append(ordered: int)
        case (.double, .double(let double)): bytes.append(ordered: double)
        case (.double, .int(let int)):
            guard let double = Double(exactly: int) else { return nil }
            bytes.append(ordered: double)
        case (.date, .date(let date)):
            bytes.append(ordered: date.seconds)
            bytes.append(ordered: Int64(date.nanoseconds))
        case (.text, .text(let text)): return Self.encode(bytes: text.utf8)
        case (.data, .data(let data)): return Self.encode(bytes: data)
        default: return nil
        }
        return bytes.array
    }

    /// Returns the index-key prefix shared by all strings with this prefix.
    func encodedPrefix(_ prefix: String) -> [UInt8] {
        Self.escaped(prefix.utf8.prefix(Self.maxLength))
    }

    private static let maxLength = 64

    private static func encode(bytes: some Collection<UInt8>) -> [UInt8] {
        escaped(bytes.prefix(maxLength)) + [0, 0]
    }

    /// Escapes 0 as 0, 1, so that 0, 0 terminates the value and sorts before every continuation.
    private static func escaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.flatMap { $0 == 0 ? [0, 1] : [$0] }
    }
}

extension ByteWriter {
    /// Appends eight bytes that sort in numeric order; both zeros get the same bytes.
    fileprivate mutating func append(ordered value: Double) {
        let bits = Int64(bitPattern: (value == 0 ? 0 : value).bitPattern)
        append(ordered: bits < 0 ? bits ^ .max : bits)
    }
}
