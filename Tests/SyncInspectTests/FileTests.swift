// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreLMDB
import StoreSQLite
import Subprocess
import SyncCore
import Synchronization
import TestSupport
import Testing

/// The program changes no file, and refuses files that are not stores.
@Suite struct FileTests {
    // MARK: Nothing is changed

    @Test func `a rollback journal that a finished transaction has left does not prevent an inspection`()
        async throws
    {
        let store = StoreFixture(.sqlite)
        let path = try store.path()
        let queue = try DatabaseQueue(path: path)
        try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = PERSIST") }
        let open = try SQLiteStore(database: queue, tables: StoreFixture.tables)
        try open.write { try $0.upsert([Item(id: "a")], in: "Board") }
        let journal = try #require(FileManager.default.contents(atPath: path + "-journal"))
        #expect(!journal.isEmpty)
        #expect(try await Inspection.report(of: path).tables.map(\.rows) == [1, 0])
        try open.close()
        try queue.close()
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `the files of a closed store are unchanged and none is created`(_ kind: StoreFixture.Kind)
        async throws
    {
        let store = StoreFixture(kind)
        try store.make { try $0.upsert([Item(id: "a")], in: "Board") }
        // A copy without the files beside the store.
        for suffix in ["-lock", ".lock"] {
            try? FileManager.default.removeItem(atPath: store.path() + suffix)
        }
        let files = try store.files()
        #expect(files.count == 1)
        #expect(try await Inspection.report(of: store.path()).tables.map(\.rows) == [1, 0])
        #expect(try store.files() == files)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `the files of a killed process are unchanged`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        let open = try store.open()
        try open.write { try $0.upsert([Item(id: "a")], in: "Board") }
        let copy = try store.copyFiles(to: "killed")
        try open.close()
        let files = try store.files()
        #expect(try await Inspection.report(of: copy).tables.map(\.rows) == [1, 0])
        // LMDB registers a reader in its lock file.
        let changed = try store.files().filter { files[$0.key] != $0.value }.keys
        #expect(changed.allSatisfy { $0.hasSuffix("-lock") })
        #expect(try store.files().count == files.count)
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `an app that has the store open reads and writes as before`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        let open = try store.open()
        try open.write { try $0.upsert([Item(id: "a")], in: "Board") }
        let files = try store.files(readingContent: false)
        #expect(try await Inspection.report(of: store.path()).tables.map(\.rows) == [1, 0])
        let changed = try store.files(readingContent: false).filter { files[$0.key] != $0.value }.keys
        #expect(changed.allSatisfy { $0.hasSuffix("-lock") })
        try open.write { try $0.upsert([Item(id: "b")], in: "Board") }
        #expect(try await Inspection.report(of: store.path()).tables.map(\.rows) == [2, 0])
        try open.close()
        #expect(try await Inspection.report(of: store.path()).tables.map(\.rows) == [2, 0])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a snapshot is consistent while an app writes`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        let open = try store.open()
        let writeRow: @Sendable (Int64) throws -> Void = { number in
            let id = "\(number)"
            try open.write { transaction in
                try transaction.upsert([Item(id: id, fields: ["title": .text(id)])], in: "Board")
                try transaction.put(
                    TableOperation(id: number, table: "Board", itemID: id, kind: .insert))
            }
        }
        try writeRow(1)
        let end = End()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var number = Int64(1)
                while !end.isReached.load(ordering: .relaxed) {
                    number = number % 100 + 1
                    try writeRow(number)
                    await Task.yield()
                }
            }
            group.addTask {
                defer { end.isReached.store(true, ordering: .relaxed) }
                var last = 0
                for _ in 0..<5 {
                    let report = try await Inspection.report(of: store.path())
                    let rows = try #require(report.tables.first?.rows)
                    #expect(report.operations.count == rows)
                    #expect(report.nextPush.requests.count == rows)
                    #expect(rows >= last)
                    last = rows
                }
                #expect(last > 0)
            }
            try await group.waitForAll()
        }
        try open.close()
    }

    @Test func `a log without its index is refused until an empty index is there`() async throws {
        let store = StoreFixture(.sqlite)
        let open = try store.open()
        try open.write { try $0.upsert([Item(id: "a")], in: "Board") }
        let copy = try store.copyFiles(to: "copied")
        try open.close()
        try FileManager.default.removeItem(atPath: copy + "-shm")
        let run = try await Inspection.run(copy)
        #expect(run.status == 1)
        #expect(run.errors.contains("create an empty file of that name"))
        try Data().write(to: URL(filePath: copy + "-shm"))
        #expect(try await Inspection.report(of: copy).tables.map(\.rows) == [1, 0])
    }

    // MARK: Kinds of files

    @Test func `a store in an app's own database is shown`() async throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("own.db"))
        try await queue.write { try $0.execute(sql: "CREATE TABLE other (a)") }
        let store = try SQLiteStore(database: queue, tables: StoreFixture.tables)
        try store.write { try $0.upsert([Item(id: "a")], in: "Board") }
        let report = try await Inspection.report(of: directory.file("own.db"))
        #expect(report.tables.map(\.name) == ["Board", "Task"])
        #expect(report.tables.map(\.rows) == [1, 0])
        #expect(report.tables.map(\.parents) == [[], ["Board"]])
    }

    @Test func `a table or a column that the app has dropped does not hide the others`() async throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("own.db"))
        let store = try SQLiteStore(database: queue, tables: StoreFixture.tables)
        try store.write { transaction in
            try transaction.upsert([Item(id: "a", fields: ["text": "1"])], in: "Task")
            for (id, table) in [(1, "Board"), (2, "Task")] as [(Int64, String)] {
                try transaction.put(
                    TableOperation(id: id, table: table, itemID: "a", kind: .update, version: "1"))
            }
        }
        try store.close()
        try await queue.write {
            try $0.execute(sql: "DROP TABLE Board; ALTER TABLE Task DROP COLUMN board")
        }
        let report = try await Inspection.report(of: directory.file("own.db"))
        #expect(report.tables.map(\.name) == ["Task"])
        #expect(report.operations.map(\.table) == ["Board", "Task"])
        #expect(report.nextPush.requests.map(\.operation) == [2])
    }

    @Test func `an item that cannot be read does not hide the others`() async throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("own.db"))
        let table = SyncTableDefinition("Board", columns: [SyncColumn("due", .date)])
        let store = try SQLiteStore(database: queue, tables: [table])
        try store.write { transaction in
            for (id, item) in [(1, "bad"), (2, "good")] as [(Int64, String)] {
                try transaction.upsert([Item(id: item, fields: ["due": .date(.unixEpoch)])], in: "Board")
                try transaction.put(
                    TableOperation(id: id, table: "Board", itemID: item, kind: .update, version: "1"))
            }
        }
        try store.close()
        try await queue.write { try $0.execute(sql: "UPDATE Board SET due = 'soon' WHERE id = 'bad'") }
        let report = try await Inspection.report(of: directory.file("own.db"))
        #expect(report.tables.map(\.rows) == [2])
        #expect(report.operations.map(\.itemID) == ["bad", "good"])
        #expect(report.nextPush.requests.map(\.operation) == [2])
        #expect(report.nextPush.notSent.map(\.reason) == ["unreadable"])
    }

    @Test func `a child waits for the insert of a parent that cannot be read`() async throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("own.db"))
        let tables = [
            SyncTableDefinition("Board", columns: [SyncColumn("due", .date)]),
            SyncTableDefinition("Task", columns: [SyncColumn("board", .text)], parents: ["Board"]),
        ]
        let store = try SQLiteStore(database: queue, tables: tables)
        try store.write { transaction in
            try transaction.upsert([Item(id: "b", fields: ["due": .date(.unixEpoch)])], in: "Board")
            try transaction.upsert([Item(id: "t", fields: ["board": "b"])], in: "Task")
            try transaction.put(TableOperation(id: 1, table: "Board", itemID: "b", kind: .insert))
            try transaction.put(TableOperation(id: 2, table: "Task", itemID: "t", kind: .insert))
        }
        try store.close()
        let readable = try await Inspection.report(of: directory.file("own.db"))
        #expect(readable.nextPush.requests.map(\.operation) == [1, 2])
        try await queue.write { try $0.execute(sql: "UPDATE Board SET due = 'soon'") }
        let report = try await Inspection.report(of: directory.file("own.db"))
        #expect(report.nextPush.requests.map(\.operation) == [])
        #expect(report.nextPush.notSent.map(\.reason) == ["unreadable", "held"])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a link to a file is followed`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try store.make { try $0.upsert([Item(id: "a")], in: "Board") }
        let link = try store.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store.path())
        #expect(try await Inspection.report(of: link).tables.map(\.rows) == [1, 0])
    }

    #if os(Linux)
        @Test func `a report that cannot be written is a failure`() async throws {
            let store = StoreFixture(.sqlite)
            try store.make()
            let program = try builtProgram("sync-inspect").path
            let result = try await Subprocess.run(
                .name("sh"), arguments: ["-c", "\"$0\" \"$1\" >/dev/full", program, try store.path()],
                output: .discarded, error: .string(limit: 1 << 20))
            #expect(result.terminationStatus == .exited(1))
            #expect(result.standardError.contains("cannot be written"), "\(result.standardError)")
        }
    #endif

    @Test(arguments: StoreFixture.Kind.allCases)
    func `parents are those that the app has last declared`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try store.make()
        #expect(try await Inspection.report(of: store.path()).tables.map(\.parents) == [[], ["Board"]])
        let withoutParents = StoreFixture.tables.map { SyncTableDefinition($0.name, columns: $0.columns) }
        try store.open(tables: withoutParents).close()
        #expect(try await Inspection.report(of: store.path()).tables.map(\.parents) == [[], []])
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a table without columns is shown`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        let tables = [
            SyncTableDefinition("List", columns: []),
            SyncTableDefinition("Entry", columns: [SyncColumn("list", .text)], parents: ["List"]),
        ]
        try store.open(tables: tables).close()
        let report = try await Inspection.report(of: store.path())
        #expect(report.tables.map(\.name) == ["Entry", "List"])
        #expect(report.tables.map(\.parents) == [["List"], []])
    }

    @Test func `tables that contradict each other are refused in a sentence`() async throws {
        let store = StoreFixture(.sqlite)
        try store.make()
        let queue = try DatabaseQueue(path: store.path())
        try await queue.write {
            try $0.execute(
                sql: """
                    INSERT INTO MS_TableConfig("table", keyType, key, value)
                    VALUES ('Board', 'columns', 'parents', '["Task"]')
                    """)
        }
        try queue.close()
        let run = try await Inspection.run(store.path())
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("sync-inspect: The parents of the tables"), "\(run.errors)")
    }

    @Test func `files that are not stores are refused in a sentence`() async throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("other.db"))
        try await queue.write { try $0.execute(sql: "CREATE TABLE other (a)") }
        try queue.close()
        try Data("hello".utf8).write(to: directory.url.appending(path: "text"))
        try Data().write(to: directory.url.appending(path: "empty"))
        let sentences = [
            "other.db": "contains no store of a sync context",
            "text": "is neither an SQLite database nor an LMDB file",
            "empty": "is neither an SQLite database nor an LMDB file", "missing": "cannot be read",
        ]
        for (name, sentence) in sentences {
            let run = try await Inspection.run(directory.file(name))
            #expect(run.status == 1)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains(sentence), "\(run.errors)")
        }
    }

    @Test func `a pipe is refused without waiting for a writer`() async throws {
        try await withTemporaryDirectory { directory in
            let pipe = directory.appending(path: "pipe").path
            try #require(mkfifo(pipe, 0o600) == 0)
            let run = try await Inspection.run(pipe)
            #expect(run.status == 1)
            #expect(run.errors.contains("is not a regular file"), "\(run.errors)")
        }
    }

    @Test(arguments: StoreFixture.Kind.allCases)
    func `a damaged file is refused`(_ kind: StoreFixture.Kind) async throws {
        let store = StoreFixture(kind)
        try store.make { transaction in
            for number in 1...200 {
                let id = "\(number)"
                try transaction.upsert([Item(id: id, fields: ["title": .text(id)])], in: "Board")
                try transaction.put(
                    TableOperation(id: Int64(number), table: "Board", itemID: id, kind: .insert))
            }
        }
        let url = URL(filePath: try store.path())
        var content = try Data(contentsOf: url)
        content.replaceSubrange(8192..., with: Data(repeating: 0x55, count: content.count - 8192))
        try content.write(to: url)
        let run = try await Inspection.run(url.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("damaged"), "\(run.errors)")
    }

    @Test(arguments: StoreFixture.Kind.allCases, [2, 4])
    func `a store of another format version is refused`(_ kind: StoreFixture.Kind, version: Int) async throws
    {
        let store = StoreFixture(kind)
        try store.make()
        switch kind {
        case .sqlite:
            let queue = try DatabaseQueue(path: store.path())
            try await queue.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA user_version = \(version)")
            }
            try queue.close()
        case .lmdb:
            let url = URL(filePath: try store.path())
            var content = try Data(contentsOf: url)
            let name = Data("swift-sync-context".utf8)
            var start = content.startIndex
            while let found = content.range(of: name, in: start..<content.endIndex) {
                content[found.upperBound] = UInt8(version)
                start = found.upperBound
            }
            try content.write(to: url)
        }
        let run = try await Inspection.run(store.path())
        #expect(run.status == 1)
        #expect(run.errors.contains("The store has format \(version)"), "\(run.errors)")
    }
}

/// Tells a task to end.
private final class End: Sendable {
    let isReached = Atomic(false)
}
