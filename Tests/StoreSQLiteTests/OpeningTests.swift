// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import StoreSQLite
import SyncCore
import Synchronization
import TestSupport
import Testing

struct OpeningTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `the database and the files beside it have mode 0600`() throws {
        let store = try Things.store(at: directory.file())
        try store.put(Item(id: "1"))
        for suffix in ["", "-wal", "-shm", ".lock"] {
            try #expect(mode(directory.file() + suffix) == 0o600, "\(suffix)")
        }
        try store.close()
    }

    @Test func `a closed store leaves only its database and an empty lock file, and can be reopened`() throws
    {
        let store = try Things.store(at: directory.file())
        try store.put(Item(id: "1", fields: ["text": "kept"]))
        try #expect(store.thing("1") != nil)
        try store.close()
        let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(left.sorted() == ["store.sqlite", "store.sqlite.lock"])
        let again = try Things.store(at: directory.file())
        try #expect(again.thing("1") == Item(id: "1", fields: ["text": "kept"]))
        try again.close()
    }

    @Test func `a closed store refuses everything except closing`() throws {
        let store = try Things.store(at: directory.file())
        try store.close()
        try store.close()
        expectStoreError(.closed) { try store.thing("1") }
        expectStoreError(.closed) { try store.put(Item(id: "1")) }
    }

    @Test func `closing waits for a running read`() throws {
        let store = try Things.store(at: directory.file())
        try store.put(Item(id: "1"))
        let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let reading = ThreadWork {
            try store.read { snapshot in
                isReading.signal()
                mayEnd.wait()
                return try snapshot.item(id: "1", in: "Thing")
            }
        }
        isReading.wait()
        let closing = ThreadWork { try store.close() }
        mayEnd.signal()
        try #expect(reading.value() == Item(id: "1"))
        try closing.value()
        expectStoreError(.closed) { try store.thing("1") }
    }

    @Test func `a second opening is refused until the first is closed`() throws {
        let store = try Things.store(at: directory.file())
        expectStoreError(.alreadyOpen, naming: [directory.file(), "'sharing: .shared'"]) {
            try Things.store(at: directory.file())
        }
        try store.put(Item(id: "1"))
        try store.close()
        try Things.store(at: directory.file()).close()
    }

    @Test func `shared stores see each other's writes and refuse an exclusive one`() throws {
        func open(_ sharing: SQLiteStore.Sharing) throws -> SQLiteStore {
            try SQLiteStore(path: directory.file(), tables: [Things.definition], sharing: sharing)
        }
        let (first, second) = (try open(.shared), try open(.shared))
        #expect(first.capabilities.isMultiProcess)
        try first.put(Item(id: "1"))
        try second.put(Item(id: "2"))
        try #expect(first.things().items == second.things().items)
        try #expect(first.things().items.count == 2)
        expectStoreError(.alreadyOpen) { try open(.exclusive) }
        try first.close()
        try second.put(Item(id: "3"))
        try second.close()
        let alone = try open(.exclusive)
        try #expect(alone.things().items.count == 3)
        expectStoreError(.alreadyOpen) { try open(.shared) }
        try alone.close()
    }

    @Test func `writes of shared stores are serialized, and none is lost`() throws {
        let stores = try (0..<3).map { _ in
            try SQLiteStore(path: directory.file(), tables: [Things.definition], sharing: .shared)
        }
        let writers = stores.map { store in
            ThreadWork {
                for _ in 0..<100 {
                    try store.write { transaction in
                        let count = try transaction.item(id: "1", in: "Thing")?["count"]?.intValue ?? 0
                        try transaction.upsert(
                            [Item(id: "1", fields: ["count": .int(count + 1)])], in: "Thing")
                        try transaction.put(
                            TableOperation(
                                id: transaction.lastOperationID() + 1, table: "Thing", itemID: "1",
                                kind: .update))
                    }
                }
            }
        }
        for writer in writers { try writer.value() }
        for store in stores {
            try #expect(store.thing("1")?["count"] == 300)
            try #expect(store.read { try $0.operationCount(in: nil) } == 300)
            try store.close()
        }
        try #expect(mode(directory.file() + ".write") == 0o600)
    }

    @Test func `a write to a shared file waits for the write lock`() throws {
        let store = try SQLiteStore(path: directory.file(), tables: [Things.definition], sharing: .shared)
        let other = open(directory.file() + ".write", O_RDWR)
        #expect(flock(other, LOCK_EX) == 0)
        let hasEnded = Mutex(false)
        let isWriting = DispatchSemaphore(value: 0)
        let writing = ThreadWork {
            isWriting.signal()
            return try store.write { _ in hasEnded.withLock { $0 } }
        }
        isWriting.wait()
        try #expect(store.things().items.isEmpty)
        hasEnded.withLock { $0 = true }
        close(other)
        try #expect(writing.value())
        try store.close()
    }

    @Test func `the capabilities depend on how the store is opened`() throws {
        let full = try Things.store(at: directory.file("full"))
        #expect(
            full.capabilities
                == StoreCapabilities(
                    isDurable: true, hasConcurrentReaders: true, isMultiProcess: false, usesIndexes: true))
        try full.close()
        let normal = try SQLiteStore(
            path: directory.file("normal"), tables: [Things.definition], synchronous: .normal)
        #expect(!normal.capabilities.isDurable)
        try normal.close()
    }

    @Test func `a path that is not a regular file in a directory is refused`() throws {
        try Data().write(to: URL(fileURLWithPath: directory.file("file")))
        try FileManager.default.createDirectory(
            atPath: directory.file("directory"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("link"), withDestinationPath: directory.file("file"))
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("dangling"), withDestinationPath: directory.file("nothing"))
        #expect(mkfifo(directory.file("fifo"), 0o600) == 0)
        let names = ["missing/store", "file/store", "directory", "link", "dangling", "fifo"]
        for path in names.map(directory.file) + ["", "a\0b", ":memory:"] {
            expectStoreError(.cannotOpen) { try Things.store(at: path) }
        }
        #expect(!FileManager.default.fileExists(atPath: directory.file("nothing")))
    }

    @Test func `a file that is not a database is refused and not changed`() throws {
        for content in [Data("This is not a database. ".utf8), Data(repeating: 0x53, count: 10_000)] {
            try content.write(to: URL(fileURLWithPath: directory.file()))
            expectStoreError(.corrupt, naming: ["'\(directory.file())'", "Restore a copy of the file"]) {
                try Things.store(at: directory.file())
            }
            try #expect(Data(contentsOf: URL(fileURLWithPath: directory.file())) == content)
        }
    }

    @Test func `another program's database is refused and not changed`() throws {
        let queue = try DatabaseQueue(path: directory.file())
        try queue.write { try $0.execute(sql: "CREATE TABLE \"Thing\"(id TEXT PRIMARY KEY, secret TEXT)") }
        try queue.close()
        let content = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        expectStoreError(.corrupt) { try Things.store(at: directory.file()) }
        try #expect(Data(contentsOf: URL(fileURLWithPath: directory.file())) == content)
    }

    @Test func `a newer format is refused and not changed`() throws {
        try Things.store(at: directory.file()).close()
        let queue = try DatabaseQueue(path: directory.file())
        try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA user_version = 4") }
        try queue.close()
        let content = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        expectStoreError(.newerFormat) { try Things.store(at: directory.file()) }
        try #expect(Data(contentsOf: URL(fileURLWithPath: directory.file())) == content)
    }

    @Test func `an empty file becomes a new store`() throws {
        try Data().write(to: URL(fileURLWithPath: directory.file()))
        let store = try Things.store(at: directory.file())
        try store.put(Item(id: "1"))
        try #expect(store.things().items == [Item(id: "1")])
        try store.close()
    }

    @Test func `a damaged page is reported when it is read`() throws {
        let store = try Things.store(at: directory.file())
        let items = (0..<2000).map {
            Item(id: "\($0)", fields: ["text": .text(String(repeating: "x", count: 500))])
        }
        try store.write { try $0.upsert(items, in: "Thing") }
        try store.close()
        var content = try Data(contentsOf: URL(fileURLWithPath: directory.file()))
        for page in 40..<200 {
            content.replaceSubrange(page * 4096..<page * 4096 + 64, with: Data(repeating: 0xA5, count: 64))
        }
        try content.write(to: URL(fileURLWithPath: directory.file()))
        let damaged = try Things.store(at: directory.file())
        expectStoreError(.corrupt, naming: ["'\(directory.file())'", "Restore a copy of the file"]) {
            try damaged.things()
        }
        try #expect(damaged.read { try $0.operationCount(in: nil) } == 0)
        try damaged.close()
    }

    @Test func `invalid definitions are refused before any file is created`() throws {
        let tables = [SyncTableDefinition("Thing", columns: []), SyncTableDefinition("THING", columns: [])]
        #expect(throws: SyncError.self) { try SQLiteStore(path: directory.file(), tables: tables) }
        try #expect(FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `a refused opening releases the lock`() throws {
        try Data("This is not a database.".utf8).write(to: URL(fileURLWithPath: directory.file()))
        expectStoreError(.corrupt) { try Things.store(at: directory.file()) }
        try FileManager.default.removeItem(atPath: directory.file())
        try Things.store(at: directory.file()).close()
    }
}
