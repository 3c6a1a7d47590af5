// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
@_spi(StoreAuthor) import SyncCore
import Testing

@testable import StoreLMDB

/// A file of more than 4 MiB is checked only when it is not as the last commit left it.
struct LMDBFileCheckTests {
    @Test func `a page whose entries overlap is refused`() throws {
        try TemporaryStore.with { temporary in
            let store = try temporary.open()
            try store.put((10..<40).map { "item \($0)" })
            try store.close()
            #expect(temporary.refusal() == nil)
            try temporary.growValue(ofItem: "item 39")
            #expect(temporary.refusal() == .corrupt)
        }
    }

    /// LMDB would use a page twice, and end the process.
    @Test(arguments: [0, UInt.max])
    func `free pages of a transaction that was never committed are refused`(_ transaction: UInt) throws {
        try TemporaryStore.with { temporary in
            try temporary.putRepeatedly()
            try temporary.changeFreeList { records, _ in records[0].transaction = transaction }
            #expect(temporary.refusal() == .corrupt)
        }
    }

    @Test(arguments: [false, true])
    func `pages after the end of the file that are free twice are refused`(_ areEqual: Bool) throws {
        try TemporaryStore.with { temporary in
            try temporary.putRepeatedly()
            try temporary.changeFreeList { records, lastPage in
                lastPage += 8
                for index in records.indices {
                    records[index].firstPage = lastPage - (areEqual ? 0 : UInt(index))
                }
            }
            #expect(temporary.refusal() == (areEqual ? .corrupt : nil))
        }
    }

    @Test func `a large file that another program has damaged is refused`() throws {
        try TemporaryStore.with { temporary in
            try temporary.fill()
            try temporary.damage()
            #expect(temporary.refusal(path: temporary.path) == .corrupt)
        }
    }

    @Test func `a large file is not checked when its last commit left it so`() throws {
        try TemporaryStore.with { temporary in
            try temporary.fill()
            try temporary.damage()
            let lastCommit = try temporary.lastCommit()
            #expect(throws: StoreError.self) {
                try LMDBFileCheck.run(path: temporary.path, lastCommit: lastCommit)
            }
            lastCommit.record(try temporary.state())
            try LMDBFileCheck.run(path: temporary.path, lastCommit: lastCommit)
        }
    }

    @Test func `each commit records the state of the file`() throws {
        try TemporaryStore.with { temporary in
            for id in ["1", "2", "3"] {
                let store = try temporary.open()
                try store.put([id])
                try store.close()
                let lastCommit = try temporary.lastCommit()
                defer { lastCommit.lock.release() }
                #expect(lastCommit.isRecorded(try temporary.state()))
            }
        }
    }

    @Test func `a file that was checked once is not checked again`() throws {
        try TemporaryStore.with { temporary in
            try temporary.fill()
            try temporary.damage(restoring: true)
            let lastCommit = try temporary.lastCommit()
            #expect(!lastCommit.isRecorded(try temporary.state()))
            try LMDBFileCheck.run(path: temporary.path, lastCommit: lastCommit)
            #expect(lastCommit.isRecorded(try temporary.state()))
        }
    }
}

extension TemporaryStore {
    /// Writes a file of more than 4 MiB.
    fileprivate func fill() throws {
        let store = try open()
        try store.put((0..<50_000).map { "item number \($0) with an id as long as most ids" })
        try store.close()
        try #require(state().size > 5 << 20)
    }

    /// Commits several transactions, each of which frees pages.
    fileprivate func putRepeatedly() throws {
        let store = try open()
        for round in 0..<8 { try store.put(["\(round)"]) }
        try store.close()
    }

    /// A record of the list of free pages.
    fileprivate struct FreePages {
        var transaction: UInt
        var firstPage: UInt
    }

    /// Changes the last two records of the list of free pages, and the number of the last page.
    fileprivate func changeFreeList(
        _ change: (_ records: inout [FreePages], _ lastPage: inout UInt) -> Void
    ) throws {
        let url = URL(fileURLWithPath: path)
        var content = [UInt8](try Data(contentsOf: url))
        try content.withUnsafeMutableBytes { content in
            let base = UnsafeRawBufferPointer(content)
            func page(_ number: Int) -> LMDBPage {
                LMDBPage(bytes: UnsafeRawBufferPointer(rebasing: base[(number * 4096)..<(number + 1) * 4096]))
            }
            let metas = try (0..<2).map { try #require(LMDBMeta(page($0))) }
            let newest = metas[0].transaction > metas[1].transaction ? 0 : 1
            let root = try #require(metas[newest].freeList.root)
            let nodes = try #require(page(Int(root)).nodes).suffix(2)
            try #require(nodes.count == 2)
            try #require(nodes.allSatisfy { !$0.hasOverflowPages && $0.value.count >= 16 })
            var records = nodes.map {
                FreePages(
                    transaction: $0.key.loadUnaligned(as: UInt.self),
                    firstPage: $0.value.loadUnaligned(fromByteOffset: 8, as: UInt.self))
            }
            var lastPage = metas[newest].lastPage
            change(&records, &lastPage)
            for (node, record) in zip(nodes, records) {
                let (key, value) = try (#require(node.key.baseAddress), #require(node.value.baseAddress))
                let start = try #require(base.baseAddress)
                content.storeBytes(of: record.transaction, toByteOffset: key - start, as: UInt.self)
                content.storeBytes(of: record.firstPage, toByteOffset: value - start + 8, as: UInt.self)
            }
            let lastPageOffset = newest * 4096 + LMDBMeta.size - 2 * LMDBPage.wordSize
            content.storeBytes(of: lastPage, toByteOffset: lastPageOffset, as: UInt.self)
        }
        try Data(content).write(to: url)
    }

    /// Adds 256 to the size of the value in each entry of the item, which still ends inside its page if the item was stored
    /// last.
    fileprivate func growValue(ofItem id: String) throws {
        let url = URL(fileURLWithPath: path)
        var content = try Data(contentsOf: url)
        let key = Data("I\u{4}Todo\(id)".utf8)
        var start = content.startIndex
        while let found = content.range(of: key, in: start..<content.endIndex) {
            // The size is the first number of the entry, which begins eight bytes before the key.
            content[found.lowerBound - 7] += 1
            start = found.upperBound
        }
        try #require(start > content.startIndex)
        try content.write(to: url)
    }

    /// Replaces the headers of pages in the middle of the file, without changing its size. Sets the time of the change,
    /// because the file system's clock may not have advanced since the last commit.
    fileprivate func damage(restoring: Bool = false) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        let start = try UInt64(state().size / 2 / 4096 * 4096)
        for page in 0..<20 as Range<UInt64> {
            try file.seek(toOffset: start + page * 4096)
            let header = try #require(try file.read(upToCount: 16))
            try file.seek(toOffset: start + page * 4096)
            try file.write(contentsOf: restoring ? header : Data(repeating: 0xFF, count: 16))
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)], ofItemAtPath: path)
    }

    /// The recorded state of a closed store.
    fileprivate func lastCommit() throws -> LMDBCommittedState {
        LMDBCommittedState(lock: try StoreFileLock(storePath: path))
    }

    fileprivate func state() throws -> LMDBFileState {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        defer { try? file.close() }
        return try LMDBFileState(of: file.fileDescriptor)
    }
}
