// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A column with an index, and the form in which its values are index keys.
///
/// Encoded values sort in the order of ``Filter/Comparison``. Long values are truncated, so index lookups return
/// candidates that the filter must check.
@usableFromInline package struct IndexedColumn: Sendable {
    package let column: SyncColumn

    /// Creates the index of a column that is declared as indexed and is comparable; returns `nil` for other columns.
    package init?(_ column: SyncColumn) {
        guard column.isIndexed, column.type != .json else { return nil }
        self.column = column
    }

    package var name: String { column.name }

    /// Returns the encoded value of the item, or `nil` when it has no index key.
    @usableFromInline package func encodedValue(of item: Item) -> [UInt8]? {
        item.content[name].flatMap(encode)
    }

    /// Returns the sortable encoding of a value, or `nil` when the index has no key for it: it is null or not a value
    /// of this column's type. Keys with the same encoded value are in the order of item ids.
    package func encode(_ value: ItemValue) -> [UInt8]? {
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

    /// Returns the prefix that the encoded values of all strings with this prefix share.
    func encodedPrefix(_ prefix: String) -> [UInt8] { Self.encode(bytes: prefix.utf8, terminator: []) }

    private static let maxLength = 64

    /// Escapes 0 as 0, 1, so that the terminator 0, 0 sorts before every continuation.
    private static func encode(bytes: some Collection<UInt8>, terminator: [UInt8] = [0, 0]) -> [UInt8] {
        var encoded = ByteWriter(capacity: maxLength + terminator.count)
        for byte in bytes.prefix(maxLength) {
            encoded.append(byte)
            if byte == 0 { encoded.append(1) }
        }
        for byte in terminator { encoded.append(byte) }
        return encoded.array
    }
}

extension SyncTableDefinition {
    /// The columns for which a store with indexes keeps one.
    package var indexedColumns: [IndexedColumn] { columns.compactMap { IndexedColumn($0) } }
}

extension ByteWriter {
    /// Appends eight bytes that sort in numeric order; both zeros get the same bytes.
    fileprivate mutating func append(ordered value: Double) {
        let bits = Int64(bitPattern: (value == 0 ? 0 : value).bitPattern)
        append(ordered: bits < 0 ? bits ^ .max : bits)
    }
}
