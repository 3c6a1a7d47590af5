// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
@_spi(StoreAuthor) import SyncCore
import TestSupport
import Testing

/// Files of format 2, which keeps an operation's rows in its JSON.
@Suite struct OperationFormatTests {
    @Test func `operations of format 2 are read, and get the current form with their next change`() throws {
        let directory = try TemporaryDirectory()
        func open() throws -> SQLiteStore { try SQLiteStore(path: directory.file(), tables: []) }
        let operations = OperationForms.operations
        let store = try open()
        try store.write { transaction in for operation in operations { try transaction.put(operation) } }
        try store.close()
        let queue = try DatabaseQueue(path: directory.file())
        try queue.write { database in
            for operation in operations {
                try database.execute(
                    sql: "UPDATE MS_TableOperations SET properties=? WHERE id=?",
                    arguments: [String(decoding: operation.storedProperties, as: UTF8.self), operation.id])
            }
            try database.execute(
                sql: "ALTER TABLE MS_TableOperations DROP COLUMN rows; PRAGMA user_version = 2")
        }
        try queue.close()

        let upgraded = try open()
        try #expect(upgraded.read { try $0.operations(after: 0, in: nil, limit: 99) } == operations)
        try upgraded.write { transaction in for operation in operations { try transaction.put(operation) } }
        try upgraded.close()
        let again = try open()
        try #expect(again.read { try $0.operations(after: 0, in: nil, limit: 99) } == operations)
        try again.close()
        let reader = try DatabaseQueue(path: directory.file())
        let stored = try reader.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT json_extract(properties, '$.kind') AS kind, json_extract(properties, '$.base') AS base,
                      rows FROM MS_TableOperations ORDER BY id LIMIT 2
                    """)
        }
        #expect(stored.map { $0["kind"] as String? } == ["insert", "insert"])
        #expect(stored.map { $0["base"] as String? } == [nil, nil])
        #expect(stored.map { ($0["rows"] as Data?) == nil } == [true, false])
        try reader.close()
    }
}
