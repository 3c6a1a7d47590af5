// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

import struct Foundation.Data

extension ModelSource {
    private static let ids = [
        "a", "b", "A", "2a", "e\u{301}", "\u{e9}", "10", "9", "\u{FFFD}", "\u{1F600}", "a ",
    ]
    private static let rareIDs = [
        "007", "-1", "1e0", String(repeating: "\u{1F600}", count: 254) + "\u{1F601}",
        String(repeating: "\u{1F600}", count: 255),
    ]
    private static let texts = [
        "", "a", "A", "e", "apple", "e\u{301}", "\u{e9}", "x", " a ", "10", "9", "\u{FFFD}", "\u{1F600}",
    ]
    private static let rareTexts = [
        "a\0b", "%", "\r\n", "\ta\n", "\u{e9}a", "\u{FEFF}x", "\"v\"", String(repeating: "long ", count: 300),
    ]
    private static let integers: [Int64] = [
        -1, 0, 1, 2, 10, .min, .max, 9_007_199_254_740_992, 9_007_199_254_740_993,
    ]
    private static let doubles: [Double] = [
        -0.0, 0.0, 1.0, 2.5, -2.5, 0.1, 1e308, .leastNonzeroMagnitude, 0x1p53,
    ]
    private static let dates = [
        "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000Z", "1969-12-31T23:59:58.9999999Z",
        "2020-06-15T12:30:45.123Z", "2020-06-15T12:30:45.5Z",
    ].map(Fixture.date)

    mutating func id() -> String { random.pick(random.once(in: 8) ? Self.rareIDs : Self.ids) }

    mutating func text() -> String { random.pick(random.once(in: 6) ? Self.rareTexts : Self.texts) }

    /// Returns a small id, rarely one with more than 32 bits.
    mutating func operationID() -> Int64 {
        Int64(1 + random.below(20)) + (random.once(in: 30) ? 1 << 33 : 0)
    }

    mutating func key() -> ConfigKey {
        let name = random.once(in: 10) ? String(repeating: "n", count: 600) + id() : id()
        return ConfigKey(
            table: random.pick(Self.tables + [""]), kind: random.pick(ConfigKey.Kind.allCases), name: name)
    }

    mutating func item(in table: String) -> Item {
        var item = Item(id: id())
        for column in Fixture.tables.first(where: { $0.name == table })?.columns ?? []
        where random.once(in: 2) {
            item[column.name] = random.once(in: 6) ? .null : value(column.type)
        }
        if random.once(in: 3) {
            item.system = SystemProperties(
                createdAt: random.once(in: 2) ? Fixture.timestamp("2020-01-01T00:00:00.12Z") : nil,
                updatedAt: random.pick(Self.dates).dateValue, version: random.once(in: 2) ? text() : nil,
                supersededVersions: random.once(in: 3) ? [text()] : [],
                undeclared: random.once(in: 3) ? [text(): json(depth: 1), "label": .text(text())] : [:])
        }
        return item
    }

    mutating func value(_ type: ColumnType) -> ItemValue {
        switch type {
        case .bool: .bool(random.once(in: 2))
        case .integer: .int(random.pick(Self.integers))
        case .double: .double(random.pick(Self.doubles))
        case .text: .text(text())
        case .date: random.pick(Self.dates)
        case .data: .data(random.once(in: 4) ? Data([0, 255, 1]) : Data(text().utf8))
        case .json: random.once(in: 20) ? deepJSON() : json(depth: 0)
        }
    }

    private mutating func json(depth: Int) -> ItemValue {
        switch random.below(depth < 3 ? 7 : 5) {
        case 0: .text(text())
        case 1: .int(random.pick(Self.integers))
        case 2: .double(random.pick(Self.doubles))
        case 3: .bool(random.once(in: 2))
        case 4: .null
        case 5: .array((0..<random.below(4)).map { _ in json(depth: depth + 1) })
        default: .object(["k": json(depth: depth + 1), "K": json(depth: depth + 1)])
        }
    }

    private mutating func deepJSON() -> ItemValue {
        (0..<30).reduce(json(depth: 3)) { inner, level in
            level % 2 == 0 ? .array([inner]) : .object(["k": inner])
        }
    }
}
