// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import SyncCore
import Testing

struct LMDBStoreTests {
    @Test func `what was put is there after reopening`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/store.lmdb"
            let item = Item(
                id: "1", fields: ["text": "milk", "complete": false],
                system: SystemProperties(updatedAt: Timestamp("2014-05-30T18:30:00.1230000Z"), version: "v"))
            let store = try LMDBStore(path: path, tables: [Fixture.todo])
            try store.write { try $0.upsert([item], in: "Todo") }
            try store.close()
            let reopened = try LMDBStore(path: path, tables: [Fixture.todo])
            defer { try? reopened.close() }
            #expect(try reopened.read { try $0.item(id: "1", in: "Todo") } == item)
        }
    }
}

enum Fixture {
    static let todo = TableDefinition(
        "Todo", columns: [Column("text", .text), Column("complete", .bool), Column("rank", .integer)])
}

/// Runs the body with a new directory, and removes it afterwards.
func withTemporaryDirectory<T>(_ body: (String) throws -> T) throws -> T {
    let directory = FileManager.default.temporaryDirectory.path + "/lmdb-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try body(directory)
}
