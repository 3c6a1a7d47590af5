// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore
import TestSupport
import Testing

@testable import TableServer

@Suite
struct SQLiteCheckpointTests {
    private func size(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    }

    @Test func `the log is moved into the file only while no other connection writes`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "rows.sqlite").path
            let pool = try DatabasePool(path: path)
            let checkpoints = try await pool.writeWithoutTransaction {
                try SQLiteCheckpoints(path: path, writer: $0)
            }
            let byteCount = 2 * SQLiteCheckpoints.pageLimit * 4096
            try await pool.write { database in
                try database.execute(
                    sql: "CREATE TABLE T(value); INSERT INTO T VALUES (zeroblob(\(byteCount)))")
            }
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            try await pool.writeWithoutTransaction { try checkpoints.runIfNeeded(writer: $0) }
            #expect(try size(path) < byteCount)
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try await pool.writeWithoutTransaction { try checkpoints.runIfNeeded(writer: $0) }
            #expect(try size(path) > byteCount)
        }
    }

    @Test func `the log of a server stays short`() async throws {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "rows.sqlite").path
            try await withServer({ $0.storage = .file(path) }) { server, _ in
                let text = ItemValue.text(String(repeating: "x", count: 400_000))
                for id in 0..<40 {
                    try await server.put("\(id)", ["text": text], in: "TodoItem")
                }
                #expect(try size(path + "-wal") < 10_000_000)
                try #expect(server.rows(in: "TodoItem").count == 40)
            }
        }
    }
}
