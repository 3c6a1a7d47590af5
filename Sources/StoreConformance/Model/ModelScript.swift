// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

import struct Foundation.Data

/// A script drawn from a seed: the same seed always gives the same script.
struct ModelScript: Sendable {
    let seed: UInt64
    var steps: [ModelStep]

    /// - Parameters:
    ///   - length: how many acts and questions, about.
    ///   - reopens: whether the store is closed and opened again now and then.
    init(seed: UInt64, length: Int, reopens: Bool) {
        self.seed = seed
        var source = ModelSource(seed: seed)
        steps = []
        var count = 0
        while count < length {
            let step = source.step(reopens: reopens)
            count += step.length
            steps.append(step)
        }
    }
}

extension ModelStep {
    var length: Int {
        switch self {
        case .write(let acts, _): acts.count
        case .read(let questions): questions.count
        case .reopen: 1
        }
    }
}

/// Draws steps. Names and values are few, so that they meet again.
private struct ModelSource {
    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let tables = Fixture.tables.map(\.name)
    private static let ids = [
        "a", "b", "A", "2a", "e\u{301}", "\u{e9}", "10", "9", "\u{FFFD}", "\u{1F600}", "a ",
        String(repeating: "\u{1F600}", count: 254) + "\u{1F601}", String(repeating: "\u{1F600}", count: 255),
    ]
    private static let texts = [
        "", "a", "A", "apple", "e\u{301}", "\u{e9}", "a\0b", " a ", "10", "9", "%", "\u{FFFD}", "\u{1F600}",
        String(repeating: "long ", count: 300),
    ]
    private static let integers: [Int64] = [
        -1, 0, 1, 2, 10, .min, .max, 9_007_199_254_740_992, 9_007_199_254_740_993,
    ]
    private static let doubles: [Double] = [
        -0.0, 0.0, 1.0, 2.5, -2.5, 0.1, 1e308, .leastNonzeroMagnitude, 0x1p53,
    ]
    private static let dates = [
        "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000Z", "1969-12-31T23:59:59.9999999Z",
        "2020-06-15T12:30:45.123Z",
    ].map(Fixture.date)

    mutating func step(reopens: Bool) -> ModelStep {
        if reopens, random.once(in: 12) { return .reopen }
        if random.once(in: 3) { return .read((0...random.below(4)).map { _ in question() }) }
        return .write((0...random.below(6)).map { _ in act() }, fails: random.once(in: 6))
    }

    private mutating func act() -> ModelAct {
        let table = random.pick(Self.tables)
        switch random.below(16) {
        case 0...4: return .upsert((0...random.below(3)).map { _ in item(in: table) }, table: table)
        case 5: return .delete(ids: (0...random.below(2)).map { _ in id() }, table: table)
        case 6: return random.once(in: 3) ? .deleteMatching(query()) : .ask(question())
        case 7: return .putOperation(operation())
        case 8, 9: return .appendOperation(item: id(), table: table)
        case 10: return .removeOperation(operationID())
        case 11: return random.once(in: 3) ? .removeError(operationID()) : .putError(error())
        case 12, 13: return .setConfig(random.once(in: 3) ? nil : text(), key())
        case 14: return .askLastOperationID
        default: return .ask(question())
        }
    }

    private mutating func question() -> ModelQuestion {
        let table = random.pick(Self.tables)
        let someTable = random.once(in: 3) ? nil : table
        switch random.below(14) {
        case 0, 1: return .item(id: id(), table: table)
        case 2...6: return .query(query())
        case 7: return .operation(operationID())
        case 8: return .operations(after: operationID() - 1, table: someTable, limit: 1 + random.below(6))
        case 9: return .operationsOfItem(id: id(), table: table)
        case 10: return .operationCount(table: someTable)
        case 11: return random.once(in: 2) ? .error(operationID()) : .errors(table: someTable)
        case 12: return .config(key())
        default: return .configs(table: table, random.pick(ConfigKey.Kind.allCases))
        }
    }

    private mutating func id() -> String { random.pick(Self.ids) }
    private mutating func text() -> String { random.pick(Self.texts) }
    private mutating func operationID() -> Int64 { Int64(1 + random.below(20)) }

    private mutating func key() -> ConfigKey {
        ConfigKey(
            table: random.pick(Self.tables + [""]), kind: random.pick(ConfigKey.Kind.allCases), name: id())
    }

    private mutating func item(in table: String) -> Item {
        var item = Item(id: id())
        for column in Fixture.tables.first(where: { $0.name == table })?.columns ?? []
        where random.once(in: 2) {
            item[column.name] = random.once(in: 6) ? .null : value(column.type)
        }
        if random.once(in: 3) {
            item.system = SystemProperties(
                createdAt: random.once(in: 2) ? Fixture.timestamp("2020-01-01T00:00:00.12Z") : nil,
                updatedAt: random.pick(Self.dates).dateValue, version: random.once(in: 2) ? text() : nil,
                supersededVersions: random.once(in: 3) ? [text()] : [])
        }
        return item
    }

    private mutating func value(_ type: ColumnType) -> ItemValue {
        switch type {
        case .bool: .bool(random.once(in: 2))
        case .integer: .int(random.pick(Self.integers))
        case .double: .double(random.pick(Self.doubles))
        case .text: .text(text())
        case .date: random.pick(Self.dates)
        case .data: .data(Data(text().utf8))
        case .json: .array([.text(text()), .int(random.pick(Self.integers)), .object(["k": .double(0.5)])])
        }
    }

    private mutating func operation() -> TableOperation {
        TableOperation(
            id: operationID(), table: random.pick(Self.tables), itemID: id(),
            kind: random.pick(TableOperation.Kind.allCases),
            state: random.pick(TableOperation.State.allCases),
            attempts: random.below(3), base: random.once(in: 3) ? item(in: "Thing") : nil,
            version: random.once(in: 2) ? text() : nil)
    }

    private mutating func error() -> TableOperationError {
        TableOperationError(
            operationID: operationID(), table: random.pick(Self.tables), itemID: id(), kind: .update,
            item: nil,
            serverItem: random.once(in: 3) ? item(in: "Thing") : nil, status: 412, code: .preconditionFailed,
            message: text(), revision: random.below(3))
    }

    // MARK: Queries

    private mutating func query() -> TableQuery {
        var query = TableQuery(random.once(in: 6) ? "Thing2" : "Thing")
        if query.table == "Thing", !random.once(in: 4) { query.filter = filter(depth: 0) }
        for _ in 0..<random.below(3) {
            let column = FilterExpression.column(random.pick(["label", "count", "id"]))
            query.orderings.append(Ordering(column, isDescending: random.once(in: 2)))
        }
        if query.table == "Thing", random.once(in: 3) {
            query.orderings.append(
                Ordering(.column(random.pick(["ratio", "due", "blob", "flag", "version"]))))
        }
        if random.once(in: 3) { query.offset = random.below(4) }
        if random.once(in: 3) { query.limit = random.below(5) }
        if random.once(in: 5) { query.selection = ["label"] }
        query.includesTotalCount = random.once(in: 2)
        return query
    }

    private mutating func filter(depth: Int) -> Filter {
        if depth < 3, random.once(in: 3) {
            switch random.below(3) {
            case 0: return .not(filter(depth: depth + 1))
            case 1: return .all((0...random.below(2)).map { _ in filter(depth: depth + 1) })
            default: return .any((0...random.below(2)).map { _ in filter(depth: depth + 1) })
            }
        }
        switch random.below(10) {
        case 0: return .nullTest(.column(random.pick(Fixture.thing.columns).name))
        case 1, 2: return .text(random.pick(Filter.TextTest.allCases), textColumn(), .constant(.text(text())))
        case 3:
            return .membership(
                .column("count"), (0...random.below(3)).map { _ in .int(random.pick(Self.integers)) })
        case 4:
            let function = random.pick([FilterExpression.Function.tolower, .toupper, .trim])
            return FilterExpression.call(function, [textColumn()]) == text()
        case 5:
            let sum = FilterExpression.arithmetic(
                random.pick(FilterExpression.Arithmetic.allCases), .column("count"),
                .constant(.int(Int64(random.below(4)))))
            return .comparison(
                random.pick(Filter.Comparison.allCases), sum, .constant(.int(random.pick(Self.integers))))
        default:
            let columns = Fixture.thing.columns.filter { $0.type != .json }
            let column = random.pick(columns)
            let constant = random.once(in: 8) ? .null : value(column.type)
            return .comparison(
                random.pick(Filter.Comparison.allCases), .column(column.name), .constant(constant))
        }
    }

    private mutating func textColumn() -> FilterExpression { .column(random.pick(["label", "mark", "id"])) }
}

extension RandomNumberGenerator {
    /// 0 up to that number, without it.
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
