// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import TestSupport
import Testing

struct SystemTableTests {
    private let directory: TemporaryDirectory
    private let store: SQLiteStore

    init() throws {
        directory = try TemporaryDirectory()
        store = try Things.store(at: directory.file())
    }

    private func operation(_ id: Int64, _ itemID: String = "1", table: String = "Thing") -> TableOperation {
        TableOperation(id: id, table: table, itemID: itemID, kind: .update)
    }

    private static let fullItem = Item(
        id: "a\0é", fields: ["text": "a\0b", "size": -0.0, "blob": .data(Data([0, 1])), "note": nil],
        system: SystemProperties(
            createdAt: Timestamp("2014-05-30T18:30:00.0Z"), version: "v", deleted: true,
            supersededVersions: ["u"], undeclared: ["x": [1, nil]]))

    // MARK: Operations

    @Test func `an operation is stored with all its properties`() throws {
        let operation = TableOperation(
            id: .max, table: "Gone", itemID: "a\0é", kind: .delete, state: .parked, refusals: 3,
            lastAttempt: Timestamp("2014-05-30T18:30:00.123Z"), lastStatus: 503, base: Self.fullItem,
            version: "v",
            deletedItem: Self.fullItem,
            sent: .init(kind: .update, fields: Self.fullItem.fields, version: nil), replaces: true)
        try store.write { try $0.put(operation) }
        try #expect(store.read { try $0.operation(id: .max) } == operation)
        try #expect(store.read { try $0.operations(forItem: "a\0é", in: "Gone") } == [operation])
        try #expect(store.read { try $0.operations(forItem: "a", in: "Gone") } == [])
    }

    @Test func `operations are in ascending order, by table, by item and in pages`() throws {
        try store.write { transaction in
            for id in [5, 3, 9, 1] as [Int64] { try transaction.put(operation(id, "\(id % 2)")) }
            try transaction.put(operation(4, table: "Other"))
        }
        try store.read { snapshot in
            try #expect(snapshot.operations(after: 0, in: nil, limit: 10).map(\.id) == [1, 3, 4, 5, 9])
            try #expect(snapshot.operations(after: 3, in: nil, limit: 2).map(\.id) == [4, 5])
            try #expect(snapshot.operations(after: 1, in: "Thing", limit: .max).map(\.id) == [3, 5, 9])
            try #expect(snapshot.operations(after: 1, in: "Thing", limit: 2).map(\.id) == [3, 5])
            try #expect(snapshot.operations(after: .max, in: nil, limit: 1).isEmpty)
            try #expect(snapshot.operations(after: 0, in: nil, limit: 0).isEmpty)
            try #expect(snapshot.operations(after: 0, in: "thing", limit: 10).isEmpty)
            try #expect(snapshot.operations(forItem: "1", in: "Thing").map(\.id) == [1, 3, 5, 9])
            try #expect(snapshot.operationCount(in: nil) == 5)
            try #expect(snapshot.operationCount(in: "Other") == 1)
            try #expect(snapshot.operation(id: 2) == nil)
        }
    }

    @Test func `putting an operation again replaces it, its item included`() throws {
        var changed = operation(1, "b", table: "Other")
        changed.refusals = 2
        try store.write { transaction in
            try transaction.put(operation(1, "a"))
            try transaction.put(changed)
        }
        try store.read { snapshot in
            try #expect(snapshot.operations(after: 0, in: nil, limit: 9) == [changed])
            try #expect(snapshot.operations(forItem: "a", in: "Thing").isEmpty)
            try #expect(snapshot.operations(forItem: "b", in: "Other") == [changed])
        }
    }

    @Test
    func
        `the last operation id survives an empty queue and smaller ids, and is rolled back with its write`()
        throws
    {
        func last(_ store: SQLiteStore) throws -> Int64 { try store.write { try $0.lastOperationID() } }
        try #expect(last(store) == 0)
        try store.write { try $0.put(operation(12)) }
        try store.write { try $0.put(operation(3)) }
        try #expect(last(store) == 12)
        #expect(throws: CancellationError.self) {
            try store.write { transaction in
                try transaction.put(operation(99))
                try #expect(transaction.lastOperationID() == 99)
                throw CancellationError()
            }
        }
        try #expect(last(store) == 12)
        try store.write { transaction in
            try transaction.removeOperation(id: 12)
            try transaction.removeOperation(id: 3)
            try transaction.removeOperation(id: 1000)
        }
        try #expect(last(store) == 12)
        try store.close()
        let reopened = try Things.store(at: directory.file())
        try #expect(last(reopened) == 12)
        try #expect(reopened.read { try $0.operationCount(in: nil) } == 0)
        try reopened.close()
    }

    // MARK: Errors and config

    private func error(_ id: Int64, table: String = "Thing", message: String = "No.") -> TableOperationError {
        TableOperationError(
            operationID: id, table: table, itemID: "a\0é", kind: .update, item: Self.fullItem,
            serverItem: Self.fullItem, status: 412, code: .preconditionFailed, message: message, revision: 4)
    }

    @Test func `errors are stored exactly, one for each operation, in ascending order`() throws {
        try store.write { transaction in
            try transaction.put(error(7))
            try transaction.put(error(2, table: "Other"))
            try transaction.put(error(7, message: "Still no\0."))
            try transaction.removeOperation(id: 7)
        }
        try store.read { snapshot in
            let expected = [error(2, table: "Other"), error(7, message: "Still no\0.")]
            try #expect(snapshot.operationErrors(in: nil) == expected)
            try #expect(snapshot.operationErrors(in: "Other").map(\.id) == [2])
            try #expect(snapshot.operationError(operationID: 7)?.message == "Still no\0.")
            try #expect(snapshot.operationError(operationID: 3) == nil)
        }
        try store.write { try $0.removeOperationError(operationID: 7) }
        try #expect(store.read { try $0.operationErrors(in: nil) }.map(\.id) == [2])
    }

    @Test func `config values are stored by table, kind and exact name`() throws {
        func key(_ name: String, _ table: String = "Thing", _ kind: ConfigKey.Kind = .deltaToken) -> ConfigKey
        {
            ConfigKey(table: table, kind: kind, name: name)
        }
        let names = ["", "a", "a\0", "a\0b", "é", "e\u{301}", "A", "💩", "'"]
        try store.write { transaction in
            for name in names { try transaction.setConfigValue("of \(name)", for: key(name)) }
            try transaction.setConfigValue("setting", for: key("a", "Thing", .setting))
            try transaction.setConfigValue("global", for: key("a", "", .setting))
            try transaction.setConfigValue("new", for: key("A"))
            try transaction.setConfigValue(nil, for: key("'"))
            try transaction.setConfigValue(nil, for: key("never there"))
        }
        try store.read { snapshot in
            for name in names.dropLast() where name != "A" {
                try #expect(snapshot.configValue(key(name))?.utf8.elementsEqual("of \(name)".utf8) == true)
            }
            try #expect(snapshot.configValue(key("A")) == "new")
            try #expect(snapshot.configValue(key("'")) == nil)
            try #expect(snapshot.configValue(key("a", "Thing", .setting)) == "setting")
            try #expect(snapshot.configValue(key("a", "", .setting)) == "global")
            let found = try snapshot.configValues(in: "Thing", kind: .deltaToken).map {
                Array($0.key.name.utf8)
            }
            let expected = names.dropLast().map { Array($0.utf8) }
            #expect(found == expected.sorted { $0.lexicographicallyPrecedes($1) })
            try #expect(snapshot.configValues(in: "Thing", kind: .setting).map(\.value) == ["setting"])
        }
    }

    @Test func `a config value or an id that is not UTF-8 is corrupt`() throws {
        let key = ConfigKey(table: "Thing", kind: .deltaToken, name: "q")
        try store.write { transaction in
            try transaction.put(operation(4))
            try transaction.setConfigValue("v", for: key)
        }
        try store.close()
        let queue = try DatabaseQueue(path: directory.file())
        try queue.write {
            try $0.execute(
                sql: """
                    UPDATE MS_TableOperations SET itemId = CAST(x'e9' AS TEXT);
                    UPDATE MS_TableConfig SET value = CAST(x'e9' AS TEXT) WHERE keyType = 'deltaToken'
                    """)
        }
        try queue.close()
        let reopened = try Things.store(at: directory.file())
        try reopened.read { snapshot in
            expectStoreError(.corrupt) { try snapshot.operation(id: 4) }
            expectStoreError(.corrupt) { try snapshot.configValue(key) }
            expectStoreError(.corrupt) { try snapshot.configValues(in: "Thing", kind: .deltaToken) }
        }
        try reopened.close()
    }

    // MARK: SQLite tools

    @Test func `SQLite tools can read the system tables`() throws {
        try store.write { transaction in
            try transaction.put(operation(4, "x"))
            try transaction.put(error(4, message: "No."))
            try transaction.setConfigValue("v", for: ConfigKey(table: "Thing", kind: .deltaToken, name: "q"))
        }
        try store.close()
        let queue = try DatabaseQueue(path: directory.file())
        try queue.read { database in
            let operation = try Row.fetchOne(
                database,
                sql: """
                    SELECT id, "table", tableKind, itemId, json_extract(properties, '$.kind') AS kind
                    FROM MS_TableOperations
                    """)
            #expect(
                operation == ["id": 4, "table": "Thing", "tableKind": 0, "itemId": "x", "kind": "update"])
            let error = try Row.fetchOne(
                database,
                sql: """
                    SELECT id, operationId, tableKind, json_extract(properties, '$.message') AS message
                    FROM MS_TableOperationErrors
                    """)
            #expect(error == ["id": 4, "operationId": 4, "tableKind": 0, "message": "No."])
            let config = try Row.fetchOne(
                database,
                sql: "SELECT \"table\", key, keyType, value FROM MS_TableConfig WHERE keyType='deltaToken'")
            #expect(config == ["table": "Thing", "key": "q", "keyType": "deltaToken", "value": "v"])
        }
        try queue.close()
    }
}
