// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Generates random steps from small sets of names and values, so that they collide often.
struct ModelSource {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    static let tables = Fixture.tables.map(\.name)
    /// Operations need no declared table; two of these names are canonically equivalent.
    private static let queues = tables + ["e\u{301}", "\u{e9}"]

    /// Returns the next step, or several related ones.
    mutating func steps(reopens: Bool) -> [ModelStep] {
        if random.once(in: 800) { return random.once(in: 3) ? largeValues() : manyItems() }
        if reopens, random.once(in: 12) { return [.reopen] }
        if random.once(in: 3) {
            return [.read((0...random.below(4)).map { _ in read() }, fails: random.once(in: 12))]
        }
        return [.write((0...random.below(6)).map { _ in action() }, fails: random.once(in: 6))]
    }

    private mutating func action() -> ModelAction {
        let table = table()
        switch random.below(16) {
        case 0: return .insert(item(in: table), table: table)
        case 1...4: return .upsert((0..<random.below(5)).map { _ in item(in: table) }, table: table)
        case 5: return .delete(ids: (0..<random.below(4)).map { _ in id() }, table: table)
        case 6: return random.once(in: 3) ? .deleteMatching(query()) : .read(read())
        case 7: return .putOperation(operation())
        case 8, 9: return .appendOperation(item: id(), table: random.pick(Self.queues))
        case 10: return .removeOperation(operationID())
        case 11: return random.once(in: 3) ? .removeError(operationID()) : .putError(error())
        case 12, 13: return .setConfig(random.once(in: 3) ? nil : text(), key())
        case 14: return .lastOperationID
        default: return .read(read())
        }
    }

    private mutating func read() -> ModelRead {
        let queue = random.pick(Self.queues)
        let someQueue = random.once(in: 3) ? nil : queue
        switch random.below(16) {
        case 0, 1: return .item(id: id(), table: table())
        case 2...8: return .query(query())
        case 9: return .operation(operationID())
        case 10: return .operations(after: operationID() - 1, table: someQueue, limit: 1 + random.below(6))
        case 11: return .operationsOfItem(id: id(), table: queue)
        case 12: return .operationCount(table: someQueue)
        case 13: return random.once(in: 2) ? .error(operationID()) : .errors(table: someQueue)
        case 14: return .config(key())
        default: return .configs(table: random.pick(Self.tables), random.pick(ConfigKey.Kind.allCases))
        }
    }

    /// Returns a table, rarely an undeclared one, which the store must refuse without ending the transaction.
    private mutating func table() -> String { random.once(in: 40) ? "Nothing" : random.pick(Self.tables) }

    private mutating func operation() -> TableOperation {
        TableOperation(
            id: operationID(), table: random.pick(Self.queues), itemID: id(),
            kind: random.pick(TableOperation.Kind.allCases),
            state: random.pick(TableOperation.State.allCases),
            refusals: random.below(3), base: random.once(in: 3) ? item(in: "Thing") : nil,
            version: random.once(in: 2) ? text() : nil)
    }

    private mutating func error() -> TableOperationError {
        TableOperationError(
            operationID: operationID(), table: random.pick(Self.queues), itemID: id(), kind: .update,
            item: nil,
            serverItem: random.once(in: 3) ? item(in: "Thing") : nil, status: 412, code: .preconditionFailed,
            message: text(), revision: random.below(3))
    }
}

extension ModelSource {
    /// Returns steps that insert, read and delete many items, in one call or one by one; each write first fails, then
    /// succeeds.
    private mutating func manyItems() -> [ModelStep] {
        let items = Fixture.series(1001 + random.below(100))
        let ids = items.map(\.id)
        let inserts: [ModelAction] =
            random.once(in: 2)
            ? [.upsert(items, table: "Thing")] : items.map { .upsert([$0], table: "Thing") }
        let deletes: [ModelAction] =
            random.once(in: 2)
            ? [.delete(ids: ids, table: "Thing")] : ids.map { .delete(ids: [$0], table: "Thing") }
        let allItems = ModelRead.query(TableQuery("Thing").includingTotalCount())
        return [
            .write(inserts, fails: true), .write(inserts, fails: false),
            .read([allItems, .query(query()), .query(query())], fails: false),
            .write(deletes, fails: true), .read([allItems], fails: false), .write(deletes, fails: false),
        ]
    }

    /// Returns steps that insert, read and delete one text of more than 64 KiB and one of more than a million bytes.
    private mutating func largeValues() -> [ModelStep] {
        let items = [66_000, 1_100_000].map { length in
            Item(id: "large \(length)", fields: ["label": .text(String(repeating: "x", count: length))])
        }
        let reads = items.map { ModelRead.item(id: $0.id, table: "Thing") }
        return [
            .write([.upsert(items, table: "Thing")] + reads.map(ModelAction.read), fails: false),
            .read(reads + [.query(query())], fails: false),
            .write([.delete(ids: items.map(\.id), table: "Thing")], fails: false),
        ]
    }
}

extension RandomNumberGenerator {
    /// Returns a random number from 0 up to, but not including, the bound.
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
