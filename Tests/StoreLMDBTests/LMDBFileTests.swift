// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
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

    @Test func `a file that ends before a used page is refused and not changed`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put((0..<500).map { "item\($0)" }, text: String(repeating: "x", count: 100))
            try store.put(["long"], text: String(repeating: "x", count: 20_000))
            try store.close()
            let whole = try #require(files.contents(atPath: temporary.path))
            let boundaries = stride(from: 4096, to: whole.count, by: 4096).flatMap { [$0 - 1, $0, $0 + 1] }
            for length in boundaries + [1, 16, 150, 4247, whole.count - 1] {
                let content = whole.prefix(length)
                try content.write(to: URL(fileURLWithPath: temporary.path))
                #expect(temporary.refusal() == .corrupt, "\(length) of \(whole.count) bytes")
                #expect(files.contents(atPath: temporary.path) == content)
            }
            try (whole + Data(count: 5000)).write(to: URL(fileURLWithPath: temporary.path))
            try #expect(temporary.open().ids().count == 501)
        }
    }

    @Test func `a store is opened again after any writes`() throws {
        try TemporaryStore.with { temporary in
            var random = SeededGenerator(seed: 14)
            var expected: Set<String> = []
            for _ in 0..<40 {
                let store = try temporary.open()
                try #expect(Set(store.ids()) == expected)
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let ids = (0..<Int.random(in: 1...300, using: &random)).map { _ in
                        "\(Int.random(in: 0..<2000, using: &random))"
                    }
                    if Bool.random(using: &random) {
                        let length = [1, 100, 2000, 9000].randomElement(using: &random) ?? 1
                        try store.put(ids, text: String(repeating: "x", count: length))
                        expected.formUnion(ids)
                    } else {
                        let removed = ids.count % 5 == 0 ? Array(expected) : ids
                        try store.write { try $0.deleteItems(ids: removed, in: "Todo") }
                        expected.subtract(removed)
                    }
                }
                try store.close()
            }
        }
    }

    @Test func `a file truncated while it is open is reported, and the store can be closed`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put((0..<500).map { "item\($0)" }, text: String(repeating: "x", count: 100))
            try #expect(store.ids().count == 500)
            #expect(truncate(temporary.path, 8192) == 0)
            for _ in 0..<2 {
                #expect(throws: StoreError.self) { try store.ids() }
                #expect(throws: StoreError.self) { try store.put(["new"]) }
            }
            do { _ = try store.ids() } catch let error as StoreError { #expect(error.code == .corrupt) }
            try store.close()
            #expect(temporary.refusal() == .corrupt)
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
                try map.put(value.dropLast() + [4], for: Array("F".utf8))
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
