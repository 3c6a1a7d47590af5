// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
import SyncCore
import Testing

@testable import StoreLMDB

struct LMDBFileTests {
    private let files = FileManager.default

    @Test func `stored data is available after reopening`() throws {
        try TemporaryStore.with { temporary in
            let item = Item(
                id: "1", fields: ["text": "milk", "rank": nil],
                system: SystemProperties(updatedAt: Timestamp("2014-05-30T18:30:00.1230000Z"), version: "v"))
            let store = try temporary.open()
            try store.write { transaction in
                try transaction.upsert([item], in: "Todo")
                try transaction.put(TableOperation(id: 7, table: "Todo", itemID: "1", kind: .insert))
                try transaction.removeOperation(id: 7)
            }
            try store.close()
            let reopened = try temporary.open()
            try reopened.write { transaction in
                try #expect(transaction.item(id: "1", in: "Todo") == item)
                try #expect(transaction.lastOperationID() == 7)
            }
        }
    }

    @Test func `a deallocated store can be opened again`() throws {
        try TemporaryStore.with { temporary in
            for id in ["1", "2", "3"] { try temporary.open().put([id]) }
            try #expect(temporary.open().ids() == ["1", "2", "3"])
        }
    }

    @Test func `all files have mode 0600`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            let names = try files.contentsOfDirectory(atPath: temporary.directory)
            #expect(names.sorted() == ["store.lmdb", "store.lmdb-lock", "store.lmdb.lock"])
            for name in names {
                let attributes = try files.attributesOfItem(atPath: temporary.directory + "/" + name)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
            try store.close()
        }
    }

    @Test func `a path that is not a regular file is refused, and nothing is created`() throws {
        try TemporaryStore.with { temporary in
            let directory = temporary.directory
            try files.createDirectory(atPath: directory + "/directory", withIntermediateDirectories: false)
            try files.createSymbolicLink(
                atPath: directory + "/link", withDestinationPath: directory + "/target")
            #expect(mkfifo(directory + "/fifo", 0o600) == 0)
            let before = try files.contentsOfDirectory(atPath: directory).sorted()
            let paths = [
                "/directory", "/link", "/fifo", "/none/store", "/fifo/store", "/a\0b",
                "/" + String(repeating: "x", count: 5000),
            ]
            for path in paths.map({ directory + $0 }) + [""] {
                #expect(temporary.refusal(path: path) == .cannotOpen, "\(path.prefix(100))")
            }
            try #expect(files.contentsOfDirectory(atPath: directory).sorted() == before)
        }
    }

    @Test func `an empty file becomes a store`() throws {
        try TemporaryStore.with { temporary in
            #expect(files.createFile(atPath: temporary.path, contents: Data()))
            try temporary.open().put(["1"])
            try #expect(temporary.open().ids() == ["1"])
        }
    }

    @Test(arguments: [1, 100, 4095, 4096, 100_000])
    func `another kind of file is refused and not changed`(size: Int) throws {
        try TemporaryStore.with { temporary in
            let content = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            #expect(files.createFile(atPath: temporary.path, contents: content))
            #expect(temporary.refusal() == .corrupt)
            #expect(files.contents(atPath: temporary.path) == content)
        }
    }

    @Test func `a truncated file is reported without a crash`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put((0..<500).map { "item\($0)" }, text: String(repeating: "x", count: 100))
            try store.put(["long"], text: String(repeating: "x", count: 20_000))
            try store.close()
            let whole = try #require(files.contents(atPath: temporary.path))
            for length in stride(from: 4096, to: whole.count, by: 4096) {
                try whole.prefix(length).write(to: URL(fileURLWithPath: temporary.path))
                do {
                    let store = try temporary.open()
                    defer { try? store.close() }
                    let items = try store.read { try $0.items(matching: TableQuery("Todo")).items }
                    #expect(items.count <= 501)
                    try store.put(["new"])
                } catch let error as StoreError {
                    #expect(error.code == .corrupt)
                }
            }
        }
    }

    @Test func `a store cannot be opened twice`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            let name = URL(fileURLWithPath: temporary.directory).lastPathComponent
            for path in [temporary.path, temporary.directory + "/../\(name)/store.lmdb"] {
                #expect(temporary.refusal(path: path) == .alreadyOpen)
            }
            try store.put(["1"])
            try store.close()
            #expect(temporary.refusal() == nil)
        }
    }

    @Test func `a refused opening releases the file`() throws {
        try TemporaryStore.with { temporary in
            try temporary.open().put(["1"])
            let changed = SyncTableDefinition("Todo", columns: [SyncColumn("text", .date)])
            #expect(temporary.refusal(tables: [changed]) == .schemaMismatch)
            let reserved = SyncTableDefinition("MS_Todo", columns: [])
            #expect(throws: SyncError.self) { try temporary.open(tables: [reserved]) }
            try #expect(temporary.open().ids() == ["1"])
        }
    }

    @Test func `a newer format is refused`() throws {
        try TemporaryStore.with { temporary in
            try temporary.open().close()
            let map = try LMDBMap(path: temporary.path, mapSize: 0, maximumSize: .max, maxReaders: 4)
            try map.write { map in
                let value = try #require(try map.get(Array("F".utf8)) { Array($0) })
                try map.put(value.dropLast() + [3], for: Array("F".utf8))
            }
            try map.close()
            #expect(temporary.refusal() == .newerFormat)
        }
    }

    @Test func `an LMDB file of another program is refused`() throws {
        try TemporaryStore.with { temporary in
            let map = try LMDBMap(path: temporary.path, mapSize: 0, maximumSize: .max, maxReaders: 4)
            try map.write { try $0.put([], for: [1]) }
            try map.close()
            #expect(temporary.refusal() == .corrupt)
        }
    }
}
