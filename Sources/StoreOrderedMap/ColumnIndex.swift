// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The index of one column: for each item whose value there is not null, a key of that value and the item's id.
///
/// Values are made into bytes that are in the order of ``Filter/Comparison``. Long texts are cut, so an index only
/// says which items may match.
struct ColumnIndex {
    let column: SyncColumn
    let prefix: [UInt8]

    /// The index of a column that is declared as indexed and can be compared; `nil` for any other.
    init?(_ column: SyncColumn, of table: String) {
        guard column.isIndexed, column.type != .json else { return nil }
        self.column = column
        prefix = StoreKey.index(of: column.name, of: table)
    }

    /// The key of an item; `nil` when the value is null.
    func key(_ item: Item) -> [UInt8]? {
        guard let value = item.fields[column.name], let place = place(of: value) else { return nil }
        return prefix + place + Array(item.id.utf8)
    }

    /// What is stored under the key: how much of the key's end is the id.
    func value(id: String) -> [UInt8] {
        var value = ByteWriter()
        value.append(varint: id.utf8.count)
        return value.array
    }

    func id(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) throws(StoreError) -> String {
        var reader = ByteReader(value)
        let count = try reader.varint()
        guard (0...key.count).contains(count) else { throw StoreError(.corrupt, "An index is damaged.") }
        return try UnsafeRawBufferPointer(rebasing: key.suffix(count)).text()
    }

    /// Where a value stands in the index; `nil` when it stands nowhere, because it is null or not a value of this
    /// column. Items at one place are in order of id.
    func place(of value: ItemValue) -> [UInt8]? {
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
        case (.text, .text(let text)): return Self.place(ofBytes: text.utf8)
        case (.data, .data(let data)): return Self.place(ofBytes: data)
        default: return nil
        }
        return bytes.array
    }

    /// What the places of all texts that begin with the prefix begin with.
    func start(ofTextsBeginningWith prefix: String) -> [UInt8] {
        Self.escaped(prefix.utf8.prefix(Self.maxLength))
    }

    private static let maxLength = 64

    private static func place(ofBytes bytes: some Collection<UInt8>) -> [UInt8] {
        escaped(bytes.prefix(maxLength)) + [0, 0]
    }

    /// A zero becomes 0, 1, so that 0, 0 can mark the end: before every continuation, and nowhere else.
    private static func escaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
        bytes.flatMap { $0 == 0 ? [0, 1] : [$0] }
    }
}

extension ByteWriter {
    /// A double as eight bytes whose byte order is the order of the numbers; both zeros are the same number.
    fileprivate mutating func append(ordered value: Double) {
        let bits = Int64(bitPattern: (value == 0 ? 0 : value).bitPattern)
        append(ordered: bits < 0 ? bits ^ .max : bits)
    }
}
