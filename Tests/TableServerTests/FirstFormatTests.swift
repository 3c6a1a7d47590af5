// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import SyncCore
import TableServer
import TestSupport
import Testing

/// Files of the first format, in which all rows are in one table.
@Suite
struct FirstFormatTests {
    /// Writes a file as a server of the first format did.
    private func writeFile(_ path: String) async throws {
        let queue = try DatabaseQueue(path: path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
                    INSERT INTO grdb_migrations VALUES ('1');
                    CREATE TABLE serverRow (
                        tableKey TEXT NOT NULL, id TEXT NOT NULL, sequence INTEGER NOT NULL,
                        revision INTEGER NOT NULL, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL,
                        deleted INTEGER NOT NULL, fields TEXT NOT NULL, PRIMARY KEY (tableKey, id));
                    CREATE INDEX serverRowBySequence ON serverRow (tableKey, sequence);
                    INSERT INTO serverRow VALUES
                        ('todoitem', 'z', 1, 3, '2024-05-30T12:00:00Z', '2024-05-30T12:00:02.5Z', 0,
                            '{"Text":"Milk","n":9007199254740993}'),
                        ('todoitem', 'a', 4, 1, '2024-05-30T12:00:00.123Z', '2024-05-30T12:00:03.123Z', 1, '{}'),
                        ('old', 'o', 1, 1, '2024-05-30T12:00:00.000Z', '2024-05-30T12:00:00.000Z', 0, '{"a":null}');
                    """)
        }
        try queue.close()
    }

    @Test func `rows, versions, times and the order of a file are kept`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await writeFile(file)
            for _ in 0..<2 {
                try await withServer({ $0.storage = .file(file) }) { server, client in
                    let rows = try server.rows(in: "TodoItem")
                    #expect(rows.map(\.id) == ["z", "a"])
                    #expect(rows.map(\.version) == ["Mw==", "MQ=="])
                    #expect(rows.map(\.updatedAt.description).first == "2024-05-30T12:00:02.500Z")
                    #expect(rows.map(\.deleted) == [false, true])
                    #expect(rows[0].fields == ["Text": "Milk", "n": 9_007_199_254_740_993])
                    try #expect(server.rows(in: "Other").isEmpty)
                    let list = try await client.list("TodoItem", [("$orderby", "updatedAt")])
                    #expect(list.items.map { $0["createdAt"] } == ["2024-05-30T12:00:00.000Z"])
                }
            }
            try await withServer({
                $0.storage = .file(file); $0.tables.append(.init("Old"))
            }) { server, client in
                try #expect(server.row("o", in: "Old")?.fields == ["a": nil])
                // The clock is at 12:00:00, and a row of the file is later.
                let reply = try await client.patch("z", ["TEXT": "Tea"], ifMatch: "\"Mw==\"")
                #expect(reply["Text"] == "Tea")
                #expect(reply["updatedAt"] == "2024-05-30T12:00:03.124Z")
                _ = try await client.insert(["id": "b"])
                try #expect(server.rows(in: "TodoItem").map(\.id) == ["z", "a", "b"])
                // The server of that format may have deleted a row with this id, whose versions began with 1.
                try #expect(server.row("b", in: "TodoItem")?.version == "NDI5NDk2NzI5Nw==")
            }
            // It may also have deleted all rows of a table for good.
            try await withServer({
                $0.storage = .file(file); $0.tables = [.init("Emptied")]
            }) { server, _ in
                try await server.put("c", [:], in: "Emptied")
                try #expect(server.row("c", in: "Emptied")?.version == "NDI5NDk2NzI5Nw==")
            }
        }
    }

    @Test func `eight servers can convert one file at the same moment`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await writeFile(file)
            try await openOnEightThreads(file)
            try await withServer({ $0.storage = .file(file) }) { server, _ in
                try #expect(server.rows(in: "TodoItem").prefix(2).map(\.id) == ["z", "a"])
                try #expect(server.rows(in: "TodoItem").count == 10)
            }
        }
    }

    /// Runs the body while another process locks a file of the first format, as during its conversion in a write-ahead log.
    private func withLockedFile(
        _ body: (_ file: String, _ unlock: () async throws -> Void) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await writeFile(file)
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabasePool(path: file, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            try await body(file) {
                try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            }
            try other.close()
        }
    }

    @Test func `a server waits for another process that converts its file, for longer than for other locks`()
        async throws
    {
        try await withLockedFile { file, unlock in
            let (log, isWaiting) = (LogMessages(), TestSignal())
            log.onMessage { message in
                if message.contains("waits for another process") { isWaiting.send() }
            }
            async let rows: [TableRow] = {
                var rows: [TableRow] = []
                try await withServer({
                    $0.storage = .file(file)
                    $0.sqliteLimits.lock = .milliseconds(20)
                    $0.logger = log.logger
                }) { server, _ in rows = try server.rows(in: "TodoItem") }
                return rows
            }()
            try await isWaiting.wait()
            try await unlock()
            try await #expect(rows.map(\.id) == ["z", "a"])
        }
    }

    @Test func `a server does not wait without end for a process that locks a file of the first format`()
        async throws
    {
        try await withLockedFile { file, unlock in
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({
                    $0.storage = .file(file)
                    ($0.sqliteLimits.lock, $0.sqliteLimits.conversion) = (.milliseconds(5), .milliseconds(40))
                }) { _, _ in }
            }
            #expect(error?.message.contains("an earlier version") == true)
            try await unlock()
        }
    }

    @Test func `a file of a newer format is an error`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await withServer({ $0.storage = .file(file) }) { _, _ in }
            let queue = try DatabaseQueue(path: file)
            try await queue.write { try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99')") }
            try queue.close()
            let error = await #expect(throws: TableServerError.self) {
                try await withServer({ $0.storage = .file(file) }) { _, _ in }
            }
            #expect(error?.message.contains("newer version") == true)
        }
    }
}
