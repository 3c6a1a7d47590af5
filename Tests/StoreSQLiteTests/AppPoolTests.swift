// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import Synchronization
import TestSupport
import Testing

/// A store in a database that the app has opened.
struct AppPoolTests {
    private let directory: TemporaryDirectory
    private let pool: DatabasePool

    init() throws {
        directory = try TemporaryDirectory()
        pool = try DatabasePool(path: directory.file())
        try pool.write {
            try $0.execute(sql: "CREATE TABLE mine(id INTEGER PRIMARY KEY); PRAGMA user_version = 7")
        }
    }

    private func store() throws -> SQLiteStore {
        try SQLiteStore(database: pool, tables: [Things.definition])
    }

    @Test func `the store keeps the app's tables and database header unchanged`() throws {
        let item = Item(id: "1", fields: ["text": "a\0b", "size": -0.0])
        let first = try store()
        try first.put(item)
        try first.close()
        expectStoreError(.closed) { try first.thing("1") }
        try pool.write { try $0.execute(sql: "INSERT INTO mine VALUES (1)") }
        let second = try store()
        try #expect(second.thing("1") == item)
        try #expect(pool.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 7)
        try #expect(pool.read { try Int.fetchOne($0, sql: "PRAGMA application_id") } == 0)
        try #expect(second.read { try $0.configValues(in: "", kind: .setting) }.isEmpty)
        try second.close()
        try pool.close()
    }

    @Test func `the store is durable when the app's pool is`() throws {
        try #expect(!store().capabilities.isDurable)
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        try #expect(store().capabilities.isDurable)
    }

    @Test func `the app can observe the store's tables`() throws {
        let store = try store()
        let observer = ChangeCounter()
        pool.add(transactionObserver: observer)
        try store.put(Item(id: "1", fields: ["text": "x"]), Item(id: "2"))
        try store.write { try $0.deleteItems(ids: ["1"], in: "Thing") }
        #expect(observer.changes.withLock { $0 } == ["insert Thing", "insert Thing", "delete Thing"])
    }

    @Test func `queries that call functions work on every connection`() throws {
        let store = try store()
        try store.put(Item(id: "1", fields: ["text": "A\0É"]), Item(id: "2", fields: ["text": "b"]))
        let filter = FilterExpression.lowercased(.column("text")) == "a\0é"
        for _ in 0..<3 { try #expect(store.ids(filter) == ["1"]) }
        // Each reader may use another connection.
        let readers = (0..<4).map { _ in ThreadWork { try store.ids(filter) } }
        for reader in readers { try #expect(reader.value() == ["1"]) }
        try #expect(store.write { try $0.deleteItems(matching: TableQuery("Thing").where(filter)) } == 1)
        try #expect(
            store.write { try $0.items(matching: TableQuery("Thing").where(!filter)) }.items.count == 1)
    }

    @Test func `a newer format is refused`() throws {
        try store().close()
        try pool.write { try $0.execute(sql: "UPDATE MS_TableConfig SET value='4' WHERE keyType='format'") }
        expectStoreError(.newerFormat) { try store() }
    }

    @Test func `a store's file can be opened by an app's pool and again by a store`() throws {
        let path = directory.file("own")
        let own = try Things.store(at: path)
        let reference = Item(id: "1", fields: ["extra": ["$ref": "x"]])
        try own.put(reference)
        try own.close()
        let pool = try DatabasePool(path: path)
        let shared = try SQLiteStore(database: pool, tables: [Things.definition])
        try #expect(shared.thing("1") == reference)
        let other = Item(id: "2", fields: reference.fields)
        try shared.put(other)
        try pool.close()
        let again = try Things.store(at: path)
        try #expect(again.things().items == [reference, other])
        try again.close()
    }

    @Test func `an app can add a table to a store's file, with forms of values that the app can read`() throws
    {
        let path = directory.file("own")
        try Things.store(at: path).close()
        let pool = try DatabasePool(path: path)
        try pool.write {
            try $0.execute(sql: "CREATE TABLE Note(id TEXT PRIMARY KEY, text TEXT, extra TEXT)")
            try $0.execute(sql: #"INSERT INTO Note VALUES('1', 'one', '{"$ref":"x"}')"#)
        }
        let note = SyncTableDefinition(
            "Note", columns: [SyncColumn("text", .text), SyncColumn("extra", .json)])
        for _ in 0..<2 {
            let store = try SQLiteStore(database: pool, tables: [Things.definition, note])
            try #expect(store.read { try $0.item(id: "1", in: "Note") }?["extra"] == ["$ref": "x"])
            try store.write { try $0.upsert([Item(id: "2", fields: ["extra": ["$ref": "y"]])], in: "Note") }
            try store.put(Item(id: "1", fields: ["extra": ["$ref": "x"]]))
            try store.close()
        }
        try #expect(
            pool.read { try String.fetchOne($0, sql: "SELECT extra FROM Note WHERE id='2'") }
                == #"{"$ref":"y"}"#)
        try SQLiteStore.inspect(path: path) { contents in
            for (id, reference) in [("1", "x"), ("2", "y")] {
                let extra = try contents.snapshot.item(id: id, in: "Note")?["extra"]
                #expect(extra == ["$ref": .text(reference)])
            }
        }
        try pool.close()
        let again = try Things.store(at: path)
        try #expect(again.thing("1")?["extra"] == ["$ref": "x"])
        try again.close()
    }

    @Test func `closing waits for a running read`() throws {
        let store = try store()
        let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let hasRead = Mutex(false)
        let reading = ThreadWork {
            try store.read { snapshot in
                isReading.signal()
                mayEnd.wait()
                _ = try snapshot.operationCount(in: nil)
                hasRead.withLock { $0 = true }
            }
        }
        isReading.wait()
        let closing = ThreadWork {
            mayEnd.signal()
            try store.close()
            return hasRead.withLock { $0 }
        }
        try #expect(closing.value())
        try reading.value()
    }

    @Test func `a full database throws full, and later writes succeed`() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA max_page_count = 100") }
        let small = try DatabasePool(path: directory.file("small"), configuration: configuration)
        let store = try SQLiteStore(database: small, tables: [Things.definition])
        let text = ItemValue.text(String(repeating: "x", count: 4000))
        try store.put(Item(id: "kept", fields: ["text": text]))
        expectStoreError(.full) {
            try store.write { transaction in
                for number in 0..<1000 {
                    try transaction.upsert([Item(id: "\(number)", fields: ["text": text])], in: "Thing")
                }
            }
        }
        // The changes of a body that ignores the error are rolled back too.
        #expect(throws: StoreError.self) {
            try store.write { transaction in
                for number in 0..<1000 {
                    try? transaction.upsert([Item(id: "\(number)", fields: ["text": text])], in: "Thing")
                }
            }
        }
        try #expect(store.things().items.map(\.id) == ["kept"])
        try store.put(Item(id: "later"))
        try #expect(store.things().items.count == 2)
    }

    @Test func `a database with UTF-16 encoding is refused`() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA encoding = 'UTF-16'") }
        let other = try DatabasePool(path: directory.file("other"), configuration: configuration)
        expectStoreError(.corrupt) { try SQLiteStore(database: other, tables: [Things.definition]) }
    }
}

private final class ChangeCounter: TransactionObserver {
    let changes = Mutex<[String]>([])

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {
        let kind = event.kind == .insert ? "insert" : event.kind == .delete ? "delete" : "update"
        changes.withLock { $0.append("\(kind) \(event.tableName)") }
    }
    func databaseDidCommit(_ database: Database) {}
    func databaseDidRollback(_ database: Database) {}
}
