// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore
import Synchronization
import TestSupport
import Testing

@testable import TableServer

@Suite
struct StorageTests {
    @Test func `the file of a server that has stopped is complete without its log`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite")
            try await withServer({ $0.storage = .file(file.path) }) { _, client in
                try await #expect(client.insert(["id": "a"]).status == 201)
                try await #expect(client.list("TodoItem").ids == ["a"])
            }
            let copy = directory.appending(path: "copy.sqlite")
            try FileManager.default.copyItem(at: file, to: copy)
            try await withServer({ $0.storage = .file(copy.path) }) { server, _ in
                try #expect(server.rows(in: "TodoItem").map(\.id) == ["a"])
            }
        }
    }

    @Test func `other users cannot read a file that the server creates, and an existing one keeps its mode`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let old = directory.appending(path: "old.sqlite").path
            _ = FileManager.default.createFile(
                atPath: old, contents: nil, attributes: [.posixPermissions: 0o640])
            for (file, mode) in [(directory.appending(path: "new.sqlite").path, 0o600), (old, 0o640)] {
                try await withServer({ $0.storage = .file(file) }) { _, client in
                    try await #expect(client.insert(["id": "a"]).status == 201)
                    for suffix in ["", "-wal", "-shm"] {
                        let attributes = try FileManager.default.attributesOfItem(atPath: file + suffix)
                        #expect(attributes[.posixPermissions] as? Int == mode, "\(suffix)")
                    }
                }
            }
        }
    }

    @Test func `rows in a file are unchanged after a restart`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            var before: [[TableRow]] = []
            try await withServer({
                $0.storage = .file(file); $0.fractionDigits = 7
            }) { server, client in
                server.clock.advance(by: .nanoseconds(123_456_700))
                for (id, value) in [
                    ("z", 9_007_199_254_740_993), ("é", 0.1), ("e\u{301}", nil),
                    ("'", ["a": [true, "\0\""]]),
                ] as [(String, ItemValue)] {
                    _ = try await client.insert(["id": .text(id), "Value": value])
                }
                _ = try await client.patch("z", ["other": "x"])
                _ = try await client.delete("é")
                _ = try await client.insert(["id": "gone"], in: "Other")
                _ = try await client.delete("gone", in: "Other")
                _ = try await client.insert(["id": "last"], in: "Other")
                before = [try server.rows(in: "TodoItem"), try server.rows(in: "Other")]
            }
            #expect(before.map(\.count) == [4, 1])
            try await withServer({
                $0.storage = .file(file); $0.fractionDigits = 7
            }) { server, client in
                #expect([try server.rows(in: "TodoItem"), try server.rows(in: "Other")] == before)
                #expect(
                    try await client.list("TodoItem", [("$orderby", "id")]).ids == ["'", "e\u{301}", "z"])
                // The spelling of columns and the order of insertion continue.
                try await #expect(client.insert(["id": "new", "VALUE": 1])["Value"] == 1)
                try #expect(server.rows(in: "TodoItem").last?.id == "new")
                try await #expect(client.patch("z", ["n": 1], ifMatch: "\"Mg==\"").status == 200)
            }
        }
    }

    @Test func `rows in memory are lost when the server stops`() async throws {
        try await withServer { _, client in _ = try await client.insert(["id": "a"]) }
        try await withServer { server, _ in try #expect(server.rows(in: "TodoItem").isEmpty) }
    }

    @Test func `a table that is no longer configured keeps its rows in the file`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await withServer({ $0.storage = .file(file) }) { _, client in
                _ = try await client.insert(["id": "a"], in: "Other")
            }
            try await withServer({
                $0.storage = .file(file); $0.tables = [.init("New")]
            }) { _, client in
                try await #expect(client.list("Other").status == 404)
            }
            try await withServer({ $0.storage = .file(file) }) { server, _ in
                try #expect(server.rows(in: "Other").map(\.id) == ["a"])
            }
        }
    }

    @Test func `two servers can use one file at the same time`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await withServer({ $0.storage = .file(file) }) { _, first in
                try await withServer({ $0.storage = .file(file) }) { _, second in
                    _ = try await first.insert(["id": "a", "Text": "Milk"])
                    let reply = try await second.patch("a", ["TEXT": "Tea"], ifMatch: "\"MQ==\"")
                    #expect(reply["Text"] == "Tea")
                    #expect(try await first.patch("a", ["text": "Oil"], ifMatch: "\"MQ==\"").status == 412)
                }
            }
        }
    }

    @Test func `a write that another program keeps waiting is 503, and is not applied`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await withServer({ $0.storage = .file(file) }) { server, client in
                var configuration = Configuration()
                configuration.allowsUnsafeTransactions = true
                let queue = try DatabaseQueue(path: file, configuration: configuration)
                try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                let reply = try await client.insert(["id": "a"])
                #expect(reply.status == 503)
                #expect(reply["error"]?.textValue?.contains("again") == true)
                // Reads do not wait.
                try await #expect(client.list("TodoItem").json == [])
                try await queue.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                try await #expect(client.insert(["id": "a"]).status == 201)
            }
        }
    }

    @Test func `a write whose turn comes after the time limit does not wait for a lock`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            let limit = Duration.seconds(600)
            let clock = Mutex(ContinuousClock.now)
            // The limit passes between a request and its turn.
            let now: @Sendable () -> ContinuousClock.Instant = {
                clock.withLock { time in
                    time += limit
                    return time
                }
            }
            try await withServer({
                $0.storage = .file(file)
                $0.sqliteLimits.lock = limit
                $0.sqliteLimits.now = now
            }) { _, client in
                var configuration = Configuration()
                configuration.allowsUnsafeTransactions = true
                let queue = try DatabaseQueue(path: file, configuration: configuration)
                try await queue.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                let start = ContinuousClock.now
                let reply = try await client.insert(["id": "a"])
                #expect(reply.status == 503)
                #expect(reply.headers["retry-after"] == "1")
                #expect(start.duration(to: .now) < limit)
                try await queue.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                // If nothing is locked, the write is made, however late.
                try await #expect(client.insert(["id": "a"]).status == 201)
            }
        }
    }

    @Test func `a file that another program locks is an error`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            let queue = try DatabaseQueue(path: file)
            try await queue.writeWithoutTransaction { database in
                try database.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE a (b)")
            }
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({ $0.storage = .file(file) }) { _, _ in }
            }
            #expect(error?.code == .storage)
            #expect(error?.message.contains("in use") == true)
            try queue.close()
        }
    }

    @Test func `another server can use the file of a stopped server`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            let configuration = TableServer.Configuration(tables: [.init("TodoItem")], storage: .file(file))
            let server = try await TableServer.start(configuration: configuration)
            try await server.put("a", ["n": 1], in: "TodoItem")
            await server.stop()
            try await withServer({ $0.storage = .file(file) }) { second, _ in
                try #expect(second.rows(in: "TodoItem").count == 1)
            }
            #expect(throws: TableServerError.self) { try server.rows(in: "TodoItem") }
            await #expect(throws: (any Error).self) { try await server.put("b", [:], in: "TodoItem") }
        }
    }

    @Test func `eight servers can create one file at the same moment`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await openOnEightThreads(file)
            try await withServer({ $0.storage = .file(file) }) { server, _ in
                try #expect(server.rows(in: "TodoItem").count == 8)
            }
        }
    }

    @Test func `a file that is not a database is an error and is not changed`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite")
            let text = Data(String(repeating: "Not a database. ", count: 100).utf8)
            try text.write(to: file)
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({ $0.storage = .file(file.path) }) { _, _ in }
            }
            #expect(error?.message == "The file '\(file.path)' is not a SQLite database.")
            #expect(error?.localizedDescription == error?.message)
            #expect(error?.code == .storage)
            #expect(try Data(contentsOf: file) == text)
        }
    }

    @Test func `the database of another program is an error and is not changed`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "own.sqlite")
            let queue = try DatabaseQueue(path: file.path)
            var migrator = DatabaseMigrator()
            // The server's own migrations have such names too.
            migrator.registerMigration("1") { try $0.execute(sql: "CREATE TABLE note (id TEXT)") }
            try migrator.migrate(queue)
            try queue.close()
            let content = try Data(contentsOf: file)
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({ $0.storage = .file(file.path) }) { _, _ in }
            }
            #expect(error?.code == .storage)
            #expect(error?.message.contains("was not created by the server") == true)
            #expect(try Data(contentsOf: file) == content)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["own.sqlite"])
        }
    }

    @Test(arguments: [false, true])
    func `a file without tables is used, also after a start that ended before its first migration`(
        hasMigrator: Bool
    ) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite")
            try Data().write(to: file)
            if hasMigrator {
                let queue = try DatabaseQueue(path: file.path)
                try DatabaseMigrator().migrate(queue)
                try queue.close()
            }
            for _ in 1...2 {
                try await withServer({ $0.storage = .file(file.path) }) { server, _ in
                    try #expect(server.rows(in: "TodoItem").isEmpty)
                }
            }
        }
    }

    @Test func `a directory that does not exist is an error`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "no/such/rows.sqlite").path
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({ $0.storage = .file(file) }) { _, _ in }
            }
            #expect(error?.code == .storage)
            #expect(error?.message.contains("/no/such' does not exist") == true)
        }
    }
}

/// Opens one file on eight threads at the same moment, as servers do, and adds a row on each.
func openOnEightThreads(_ file: String) async throws {
    let scope = RowScope(table: TableServer.Table("TodoItem"))
    let settings = RowStampSettings(TableServer.Configuration(tables: []))
    try await withThrowingTaskGroup { group in
        for number in 0..<8 {
            group.addTask {
                let storage = try await onThread {
                    try SQLiteRowStorage(path: file, tables: [scope.table], settings: settings)
                }
                _ = try await storage.write(scope) { rows in
                    try rows.put(TableRow(newIn: rows, id: "new\(number)", at: rows.stamp()))
                }
                storage.close()
            }
        }
        try await group.waitForAll()
    }
}
