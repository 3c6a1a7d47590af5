// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import Testing

/// STRICT tables of an app, which refuse values of other types than the declared ones.
struct AppStrictTableTests {
    private static let values: [SyncCore.ColumnType: ItemValue] = [
        .bool: true, .integer: 5, .double: 2.5, .text: "5", .date: .date(.unixEpoch), .data: .data(Data([1])),
        .json: ["a": [1, nil]],
    ]

    private func database(_ columns: String) throws -> DatabaseQueue {
        let database = try DatabaseQueue()
        try database.write { try $0.execute(sql: "CREATE TABLE T(\(columns)) STRICT") }
        return database
    }

    private func schema(of database: DatabaseQueue) throws -> [String] {
        try database.read { try String.fetchAll($0, sql: "SELECT sql FROM sqlite_master WHERE sql<>''") }
    }

    @Test(
        arguments: [
            ("TEXT", [.text, .json, .date]), ("INTEGER", [.bool, .integer]), ("INT", [.bool, .integer]),
            ("real", [.double]), ("BLOB", [.data]), ("ANY", Array(SyncCore.ColumnType.allCases)),
        ] as [(String, [SyncCore.ColumnType])])
    func `a table is refused and not changed unless its columns can store the declared types`(
        sqlType: String, types: [SyncCore.ColumnType]
    ) throws {
        for (type, value) in Self.values {
            let database = try database("id TEXT PRIMARY KEY, value \(sqlType)")
            let table = SyncCore.SyncTableDefinition("T", columns: [SyncCore.SyncColumn("value", type)])
            guard types.contains(type) else {
                let before = try schema(of: database)
                expectStoreError(.schemaMismatch, naming: ["'value'", "'T'", type.rawValue]) {
                    try SQLiteStore(database: database, tables: [table])
                }
                #expect(try schema(of: database) == before)
                continue
            }
            let store = try SQLiteStore(database: database, tables: [table])
            let items = [Item(id: "1", fields: ["value": value]), Item(id: "2", fields: ["value": nil])]
            try store.write { try $0.upsert(items, in: "T") }
            #expect(try store.read { try $0.items(matching: TableQuery("T")).items } == items, "\(type)")
        }
    }

    @Test(arguments: [("TEXT", true), ("ANY", true), ("BLOB", false), ("INT", false)])
    func `the ids are in a column that can store strings`(sqlType: String, isUsable: Bool) throws {
        let database = try database("id \(sqlType) PRIMARY KEY, text TEXT")
        let table = SyncCore.SyncTableDefinition("T", columns: [SyncCore.SyncColumn("text", .text)])
        guard isUsable else {
            return expectStoreError(.schemaMismatch) { try SQLiteStore(database: database, tables: [table]) }
        }
        let store = try SQLiteStore(database: database, tables: [table])
        let item = Item(id: "07", fields: ["text": "x"])
        try store.write { try $0.upsert([item], in: "T") }
        #expect(try store.read { try $0.item(id: "07", in: "T") } == item)
    }
}
