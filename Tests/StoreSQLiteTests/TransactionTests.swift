// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncCore
import TestSupport
import Testing

struct TransactionTests {
    private struct Refusal: Error, Equatable { let reason: String }

    private let directory: TemporaryDirectory
    private let store: SQLiteStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try Things.store(at: directory.file())
    }

    @Test func `only a transaction itself sees its changes before the commit`() throws {
        try store.put(Item(id: "1", fields: ["text": "old"]))
        let store = store
        let (hasWritten, mayCommit) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let writing = ThreadWork {
            try store.write { transaction in
                try transaction.upsert([Item(id: "1", fields: ["text": "new"])], in: "Thing")
                try transaction.put(TableOperation(id: 7, table: "Thing", itemID: "1", kind: .update))
                let seen = try transaction.item(id: "1", in: "Thing")
                hasWritten.signal()
                mayCommit.wait()
                return (seen, try transaction.lastOperationID())
            }
        }
        hasWritten.wait()
        try #expect(store.thing("1")?["text"] == "old")
        try #expect(store.read { try $0.operationCount(in: nil) } == 0)
        mayCommit.signal()
        let (seen, last) = try writing.value()
        #expect(seen?["text"] == "new")
        #expect(last == 7)
        try #expect(store.thing("1")?["text"] == "new")
    }

    @Test func `a snapshot does not change when a write commits`() throws {
        try store.put(Item(id: "1", fields: ["count": 1]))
        let store = store
        let (isReading, hasCommitted) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reading = ThreadWork {
            try store.read { snapshot in
                // The first statement runs after the commit; the snapshot is still from before it.
                isReading.signal()
                hasCommitted.wait()
                return (
                    try snapshot.items(matching: TableQuery("Thing")).items,
                    try snapshot.operationCount(in: nil), try snapshot.item(id: "1", in: "Thing")
                )
            }
        }
        isReading.wait()
        try store.write { transaction in
            try transaction.upsert([Item(id: "1", fields: ["count": 2]), Item(id: "2")], in: "Thing")
            try transaction.put(TableOperation(id: 1, table: "Thing", itemID: "1", kind: .update))
        }
        hasCommitted.signal()
        let (items, count, item) = try reading.value()
        #expect(items == [Item(id: "1", fields: ["count": 1])])
        #expect(count == 0)
        #expect(item == items.first)
        try #expect(store.things().items.count == 2)
    }

    @Test func `a body's error is rethrown and rolls everything back`() throws {
        let operation = TableOperation(id: 5, table: "Thing", itemID: "1", kind: .insert)
        let key = ConfigKey(table: "Thing", kind: .setting, name: "a")
        try store.put(Item(id: "1", fields: ["text": "old"]))
        #expect(throws: Refusal(reason: "changed my mind")) {
            try store.write { transaction in
                try transaction.upsert([Item(id: "1"), Item(id: "2")], in: "Thing")
                try transaction.put(operation)
                try transaction.setConfigValue("x", for: key)
                throw Refusal(reason: "changed my mind")
            }
        }
        #expect(throws: Refusal(reason: "read")) { try store.read { _ in throw Refusal(reason: "read") } }
        try #expect(store.things().items == [Item(id: "1", fields: ["text": "old"])])
        try store.write { transaction in
            try #expect(transaction.lastOperationID() == 0)
            try #expect(transaction.operation(id: 5) == nil)
            try #expect(transaction.configValue(key) == nil)
        }
    }

    @Test func `writes are serialized, and none is lost`() throws {
        let store = store
        try store.put(Item(id: "1", fields: ["count": 0]))
        let writers = (0..<4).map { _ in
            ThreadWork {
                for _ in 0..<50 {
                    try store.write { transaction in
                        var item = try transaction.item(id: "1", in: "Thing") ?? Item(id: "1")
                        item.fields["count"] = .int((item["count"]?.intValue ?? 0) + 1)
                        try transaction.upsert([item], in: "Thing")
                    }
                }
            }
        }
        for writer in writers { try writer.value() }
        try #expect(store.thing("1")?["count"] == 200)
    }

    @Test func `an unknown table is refused with a SyncError`() throws {
        func code(_ body: () throws -> Void) -> SyncError.Code? {
            do { try body() } catch { return (error as? SyncError)?.code }
            return nil
        }
        #expect(code { _ = try store.read { try $0.item(id: "1", in: "Nothing") } } == .unknownTable)
        #expect(code { _ = try store.things(TableQuery("thing")) } == .unknownTable)
        #expect(code { try store.write { try $0.upsert([], in: "Nothing") } } == .unknownTable)
        #expect(code { try store.write { try $0.deleteItems(ids: [], in: "Nothing") } } == .unknownTable)
        #expect(
            code { try store.write { _ = try $0.deleteItems(matching: TableQuery("Nothing")) } }
                == .unknownTable)
    }
}
