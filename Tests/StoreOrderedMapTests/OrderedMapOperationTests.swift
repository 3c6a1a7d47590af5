// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
import SyncCore
import Testing

struct OrderedMapOperationTests {
    private func operation(_ id: Int64, _ table: String = "Todo", item: String = "1") -> TableOperation {
        TableOperation(id: id, table: table, itemID: item, kind: .update)
    }

    @Test func `an operation is stored exactly`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        let item = Item(
            id: "e\u{301}", fields: ["double": .double(-0.0), "data": .data(Data([0, 255])), "text": nil],
            system: SystemProperties(updatedAt: Timestamp("2014-05-30T18:30:00.1230000Z"), version: "v"))
        let full = TableOperation(
            id: 7, table: "Gone", itemID: "e\u{301}", kind: .delete, state: .attempted, revision: 3,
            refusals: 2,
            lastAttempt: Timestamp("2014-05-30T18:30:00.1Z"), lastStatus: 500, base: item, version: "v",
            serverItem: item, deletedItem: item,
            sent: .init(kind: .update, fields: ["integer": .int(.max)], version: "w"),
            replaces: true)
        let plain = operation(8)
        try store.write {
            try $0.put(full)
            try $0.put(plain)
        }
        try store.read {
            try #expect($0.operation(id: 7) == full)
            try #expect($0.operations(after: 0, in: nil, limit: 10) == [full, plain])
            try #expect($0.operations(after: 0, in: "Gone", limit: 10) == [full])
            try #expect($0.operations(forItem: "e\u{301}", in: "Gone") == [full])
            try #expect($0.operations(forItem: "\u{e9}", in: "Gone").isEmpty)
        }
    }

    @Test func `a count of operations that would overflow is damaged`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        let largest = withUnsafeBytes(of: Int64.max.littleEndian) { Array($0) }
        try map.write { try $0.put(largest, for: Array("A".utf8)) }
        let error = #expect(throws: StoreError.self) { try store.write { try $0.put(operation(1)) } }
        #expect(error?.code == .corrupt)
    }

    @Test(arguments: ["A", "L"]) func `a stored number of another length is damaged`(key: String) throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        try map.write { try $0.put([UInt8](repeating: 0, count: 9), for: Array(key.utf8)) }
        let error = #expect(throws: StoreError.self) { try store.write { try $0.put(operation(1)) } }
        #expect(error?.code == .corrupt)
    }

    @Test func `operations of all tables or of one are in order of id`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        let ids: [Int64] = [.max, 300, 1, 256, 255, -5, 2]
        try store.write { transaction in
            for id in ids {
                try transaction.put(operation(id, id % 2 == 0 ? "even" : "odd", item: "\(id % 3)"))
            }
        }
        try store.read { snapshot in
            try #expect(snapshot.operations(after: .min, in: nil, limit: .max).map(\.id) == ids.sorted())
            try #expect(snapshot.operations(after: 1, in: nil, limit: 2).map(\.id) == [2, 255])
            try #expect(snapshot.operations(after: 2, in: "even", limit: 5).map(\.id) == [256, 300])
            try #expect(snapshot.operations(after: .max, in: nil, limit: 5).isEmpty)
            try #expect(snapshot.operations(after: 0, in: nil, limit: 0).isEmpty)
            try #expect(snapshot.operations(after: 0, in: "eve", limit: 5).isEmpty)
            try #expect(snapshot.operations(forItem: "0", in: "odd").map(\.id) == [255])
            try #expect(snapshot.operations(forItem: "1", in: "even").map(\.id) == [256])
            try #expect(snapshot.operationCount(in: nil) == 7)
            try #expect(snapshot.operationCount(in: "even") == 3)
            try #expect(snapshot.operationCount(in: "none") == 0)
        }
    }

    @Test func `an operation put again moves to its new table and item`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        let later = operation(2, "B", item: "y")
        try store.write {
            try $0.put(operation(1, "A", item: "x"))
            try $0.put(operation(2, "A", item: "x"))
            try $0.put(later)
            try $0.put(later)
        }
        try store.read {
            try #expect($0.operations(forItem: "x", in: "A").map(\.id) == [1])
            try #expect($0.operations(after: 0, in: "A", limit: 9).map(\.id) == [1])
            try #expect($0.operations(forItem: "y", in: "B") == [later])
            try #expect(
                [$0.operationCount(in: nil), $0.operationCount(in: "A"), $0.operationCount(in: "B")] == [
                    2, 1, 1,
                ])
        }
    }

    @Test func `removing operations leaves only the last operation id`() throws {
        let map = SortedArrayMap(maxKeyLength: 64)
        let store = try OrderedMapStore(on: map)
        let before = try map.entries().count
        let table = String(repeating: "\u{e9}", count: 300)
        for id in [3, 9, 4] as [Int64] { try store.write { try $0.put(operation(id, table, item: table)) } }
        try #expect(store.read { try $0.operations(after: 3, in: table, limit: 9).map(\.id) } == [4, 9])
        try #expect(store.read { try $0.operations(forItem: table, in: table).map(\.id) } == [3, 4, 9])
        for id in [9, 3, 9, 4, 1] as [Int64] { try store.write { try $0.removeOperation(id: id) } }
        try #expect(map.entries().count == before + 1)
        try #expect(store.write { try $0.lastOperationID() } == 9)
    }

    @Test
    func `the last operation id survives an empty queue and reopening, and is rolled back with its write`()
        throws
    {
        struct Refusal: Error {}
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        try #expect(store.write { try $0.lastOperationID() } == 0)
        try store.write {
            try $0.put(operation(12))
            try #expect($0.lastOperationID() == 12)
            try $0.put(operation(5))
            try $0.removeOperation(id: 12)
        }
        #expect(throws: Refusal.self) {
            try store.write {
                try $0.put(operation(99))
                throw Refusal()
            }
        }
        try #expect(OrderedMapStore(on: map).write { try $0.lastOperationID() } == 12)
    }

    @Test func `a local write does the same work with many queued operations as with none`() throws {
        let map = SortedArrayMap()
        let store = try OrderedMapStore(on: map)
        func work(_ id: Int64) throws -> SortedArrayMap.Work {
            try map.work {
                try store.write {
                    _ = try $0.operations(forItem: "item\(id)", in: "Todo")
                    _ = try $0.operationCount(in: "Todo")
                    try $0.put(operation($0.lastOperationID() + 1, item: "item\(id)"))
                }
            }
        }
        let first = try work(1)
        for id in 2...2000 { _ = try work(Int64(id)) }
        let last = try work(2001)
        #expect(last == first)
        #expect(last.scans == 0)
    }

    @Test func `errors are independent of their operations`() throws {
        let store = try OrderedMapStore(on: SortedArrayMap())
        func error(_ id: Int64, _ table: String) -> TableOperationError {
            TableOperationError(
                operationID: id, table: table, itemID: "1", kind: .update,
                item: Item(id: "1", fields: ["text": "\0"]),
                serverItem: Item(id: "1", system: SystemProperties(deleted: true)), status: 412,
                code: .preconditionFailed, message: "e\u{301}", revision: 4)
        }
        try store.write {
            try $0.put(operation(1))
            for id in [256, 1, 255] as [Int64] { try $0.put(error(id, id == 255 ? "B" : "A")) }
            try $0.removeOperation(id: 1)
        }
        try store.read {
            try #expect($0.operationError(operationID: 1) == error(1, "A"))
            try #expect($0.operationErrors(in: nil).map(\.id) == [1, 255, 256])
            try #expect($0.operationErrors(in: "A").map(\.id) == [1, 256])
        }
        try store.write { try $0.removeOperationError(operationID: 1) }
        try #expect(store.read { try $0.operationError(operationID: 1) } == nil)
    }
}
