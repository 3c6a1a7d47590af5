// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The row of the benchmarks: 210 bytes as JSON.
struct TodoRow: Codable, Sendable, Hashable {
    var id: String
    var title: String
    var note: String
    var complete: Bool
    var priority: Int
    var price: Double
    var due: String
}

extension TodoRow {
    static let table = "TodoItem"
    static let definition = SyncTableDefinition(table, columns: columns(isIndexed: false))
    /// The definition with an index on `priority`.
    static let indexedDefinition = SyncTableDefinition(table, columns: columns(isIndexed: true))

    private static func columns(isIndexed: Bool) -> [SyncColumn] {
        [
            SyncColumn("title", .text), SyncColumn("note", .text), SyncColumn("complete", .bool),
            SyncColumn("priority", .integer, isIndexed: isIndexed), SyncColumn("price", .double),
            SyncColumn("due", .date),
        ]
    }

    /// Creates the row with this number. Each generation has different content of the same length.
    init(_ number: Int, generation: Int = 0) {
        let digits = Self.digits(Self.mixed(UInt64(number &* 31 &+ generation)))
        self.init(
            id: Self.randomID(number), title: "Buy \(digits.prefix(8)) litres of milk on the way",
            note: "\(digits) before the shops close", complete: (number + generation).isMultiple(of: 2),
            priority: 10_000 + (number &* 7919 &+ generation) % 90_000,
            price: Double(number % 1000) + 0.25 + Double(generation % 2) / 2,
            due: "2025-0\(1 + number % 9)-1\(generation % 10)T08:30:00.\(100 + number % 900)Z")
    }

    /// Creates the row with this number, and an id that grows with the number, as the framework generates ids.
    init(ordered number: Int, generation: Int = 0) {
        self.init(number, generation: generation)
        id = Self.digits(UInt64(number) << 16) + Self.digits(Self.mixed(UInt64(number)))
    }

    /// The row as the fields of an item.
    var fields: [String: ItemValue] {
        [
            "title": .text(title), "note": .text(note), "complete": .bool(complete),
            "priority": .int(Int64(priority)), "price": .double(price),
            "due": Timestamp(due).map(ItemValue.date) ?? .null,
        ]
    }

    /// The row as a synced item.
    var item: Item {
        let time = Timestamp.unixEpoch
        return Item(
            id: id, fields: fields, system: SystemProperties(createdAt: time, updatedAt: time, version: "1"))
    }

    /// Returns a random id, as servers generate them.
    static func randomID(_ number: Int) -> String {
        digits(mixed(UInt64(bitPattern: Int64(number))))
            + digits(mixed(UInt64(bitPattern: Int64(number)) &+ 0x5555_5555))
    }

    private static func digits(_ value: UInt64) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    /// SplitMix64's output function.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &* 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension Sequence<TodoRow> {
    /// A checksum of the number of rows and the sum of a column.
    var checksum: Int { reduce(0) { $0 &+ 1_000_003 &+ $1.priority } }
}
