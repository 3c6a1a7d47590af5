// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import StoreLMDB
import StoreMemory
import SyncCore
import Testing

/// Compares the store with the memory store after the same random changes.
struct LMDBComparisonTests {
    private static let tables = ["A", "AB"].map { name in
        SyncTableDefinition(
            name,
            columns: [SyncColumn("text", .text), SyncColumn("rank", .integer), SyncColumn("data", .data)])
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `the same changes have the same result as in the memory store`(seed: UInt64) throws {
        try TemporaryStore.with { temporary in
            let memory = try MemoryStore(tables: Self.tables)
            var store = try temporary.open(tables: Self.tables, mapSize: 64 << 10)
            var script = Script(seed: seed)
            for round in 0..<40 {
                let changes = (0..<Int.random(in: 1...12, using: &script.random)).map { _ in script.next() }
                let isRefused = script.isRare()
                for store in [memory, store] as [any SyncContextDataSource] {
                    try? store.write { transaction in
                        for change in changes { try change(transaction) }
                        if isRefused { throw CancellationError() }
                    }
                }
                if script.isRare() {
                    try store.close()
                    store = try temporary.open(tables: Self.tables)
                }
                guard round % 4 == 3 else { continue }
                let (found, expected) = (try Dump(of: store), try Dump(of: memory))
                #expect(found == expected)
            }
            try store.close()
        }
    }
}

/// The complete contents of a store.
private struct Dump: Equatable {
    var items: [QueryResult] = []
    var operations: [[TableOperation]] = []
    var counts: [Int] = []
    var errors: [[TableOperationError]] = []
    var config: [String] = []
    var lastOperationID: Int64 = 0

    init(of store: any SyncContextDataSource) throws {
        self = try store.write { try Dump(of: $0) }
    }

    private init(of store: any StoreTransaction) throws {
        for table in ["A", "AB"] {
            let all = TableQuery(table)
            let queries = [
                all, all.order(by: "rank").offset(2).limit(5).includingTotalCount(),
                all.where(.column("rank") > 3),
                all.where(.column("rank") == 1).limit(2), all.where(.hasPrefix(.column("text"), "t\0")),
                all.where(.isNull(.column("text"))).select("rank"), all.limit(3).includingTotalCount(),
            ]
            items += try queries.map(store.items)
            for id in Script.ids {
                items.append(QueryResult(items: try store.item(id: id, in: table).map { [$0] } ?? []))
                operations.append(try store.operations(forItem: id, in: table))
            }
            for kind in ConfigKey.Kind.allCases {
                config += try store.configValues(in: table, kind: kind).map { "\($0.key.name)=\($0.value)" }
            }
        }
        for table in ["A", "AB", nil] {
            operations.append(try store.operations(after: 0, in: table, limit: .max))
            operations.append(try store.operations(after: 3, in: table, limit: 4))
            counts.append(try store.operationCount(in: table))
            errors.append(try store.operationErrors(in: table))
        }
        lastOperationID = try store.lastOperationID()
    }
}

/// Random changes derived from a seed.
private struct Script {
    typealias Change = (any StoreTransaction) throws -> Void

    /// Few ids, so that they collide; some exceed LMDB's key length and share their first 511 bytes.
    static let ids: [String] =
        ["a", "b", "B", "e\u{301}", "\u{e9}", "\u{1F600}"]
        + [0, 1, 2].map { String(repeating: "\u{1F600}", count: 254 - $0) + "\u{1F601}" }
        + (500...506).map { String(repeating: "x", count: $0) }

    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func isRare() -> Bool { Int.random(in: 0..<6, using: &random) == 0 }

    mutating func next() -> Change {
        let table = Bool.random(using: &random) ? "A" : "AB"
        let id = Self.ids.randomElement(using: &random) ?? ""
        let number = Int64.random(in: 1...12, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2:
            let items = [item(id), item(Self.ids.randomElement(using: &random) ?? ""), item(id)]
            return { try $0.upsert(items, in: table) }
        case 3: return { try $0.deleteItems(ids: [id, "absent"], in: table) }
        case 4:
            let query = TableQuery(table).where(.column("rank") < number).order(byDescending: "rank").limit(2)
            return { try $0.deleteItems(matching: query) }
        case 5, 6:
            let operation = TableOperation(
                id: number, table: table, itemID: id, kind: .update, base: item(id))
            return { try $0.put(operation) }
        case 7: return { try $0.removeOperation(id: number) }
        case 8:
            let error = TableOperationError(
                operationID: number, table: table, itemID: id, kind: .delete, item: item(id), serverItem: nil,
                status: nil, code: .serverError, message: id, revision: 1)
            return { number % 3 == 0 ? try $0.removeOperationError(operationID: number) : try $0.put(error) }
        default:
            let key = ConfigKey(table: table, kind: number % 2 == 0 ? .setting : .deltaToken, name: id)
            return { try $0.setConfigValue(number % 3 == 0 ? nil : "\(number)", for: key) }
        }
    }

    private mutating func item(_ id: String) -> Item {
        let rank = Int64.random(in: -2...9, using: &random)
        var item = Item(id: id, fields: ["rank": .int(rank)])
        if rank < 2 { item["text"] = rank < 0 ? .null : .text("t\0\(rank)") }
        if rank > 5 { item["data"] = .data(Data(repeating: 7, count: Int(rank) * 1000)) }
        if rank > 7 {
            item.system = SystemProperties(
                updatedAt: Timestamp("2014-05-30T18:30:00.10Z"), version: "\(rank)")
        }
        return item
    }
}
