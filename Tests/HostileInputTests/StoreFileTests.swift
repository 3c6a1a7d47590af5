// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TestSupport
import Testing

/// Files that no store has written, or that are damaged: a typed error or the rows, never a crash, a hang or a changed file.
@Suite struct StoreFileTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("store") }

    init() throws { directory = try TemporaryDirectory() }

    /// Returns the code of the error of an opening; `nil` when it succeeds.
    private func codeOfOpening(_ kind: StoreKind, _ path: String) throws -> StoreError.Code? {
        do {
            let store = try kind.open(at: path)
            try store.write { try $0.upsert([Item(id: "a")], in: Thing.name) }
            try store.close()
            return nil
        } catch let error as StoreError {
            #expect(error.message.hasSuffix("."), "\(error)")
            return error.code
        }
    }

    @Test(
        arguments: StoreKind.persistent,
        [
            "", "/", ".", "..", "/dev/null", "/dev/zero", "/proc/self/mem", "/nonexistent/store", "a\0b",
            "/" + String(repeating: "x", count: 256), String(repeating: "/x", count: 3000),
            "/dev/null/store",
        ])
    func `a path that no file can have is refused`(_ kind: StoreKind, path: String) throws {
        #expect(try codeOfOpening(kind, path) == .cannotOpen)
    }

    @Test(
        arguments: StoreKind.persistent,
        [
            " ", "a b", "%2F", "?mode=ro", "#", "store;DROP TABLE x", "'", "\"", "é", "e\u{301}", "😀",
            "-store", "\n", "\u{202E}x",
            "*", "store?vfs=none", "\\", String(repeating: "x", count: 200),
        ])
    func `any other name is the name of the file`(_ kind: StoreKind, name: String) throws {
        #expect(try codeOfOpening(kind, directory.file(name)) == nil)
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.contains { UTF8Text($0) == UTF8Text(name) })
        #expect(try codeOfOpening(kind, directory.file(name)) == nil)
    }

    static let contents: [Data] = [
        Data("SQLite format 3".utf8), Data("SQLite format 3\0".utf8),
        Data("SQLite format 3\0".utf8) + Data(count: 84),
        Data("SQLite format 3\0".utf8) + Data(repeating: 0xFF, count: 4080), Data(count: 4096),
        Data(count: 100_000),
        Data(repeating: 0xFF, count: 8192), Data([0xDE, 0xC0, 0xEF, 0xBE]), Data("PK\u{3}\u{4}".utf8),
        Data("%PDF-1.7\n".utf8),
        Data("{}".utf8), Data("\u{FEFF}".utf8),
        Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 73) }),
    ]

    @Test(arguments: StoreKind.persistent, contents.indices)
    func `a file of another kind is refused and not changed`(_ kind: StoreKind, index: Int) throws {
        let content = Self.contents[index]
        try content.write(to: URL(filePath: path))
        #expect(try codeOfOpening(kind, path) == .corrupt)
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        // The refused opening has released the file.
        try FileManager.default.removeItem(atPath: path)
        #expect(try codeOfOpening(kind, path) == nil)
    }

    @Test(arguments: StoreKind.persistent)
    func `a store of the other kind is refused and not changed`(_ kind: StoreKind) throws {
        let other = kind == .sqlite ? StoreKind.lmdb : .sqlite
        #expect(try codeOfOpening(other, path) == nil)
        let content = try Data(contentsOf: URL(filePath: path))
        #expect(try codeOfOpening(kind, path) == .corrupt)
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
        #expect(try codeOfOpening(other, path) == nil)
    }

    @Test(arguments: StoreKind.persistent)
    func `a missing or forbidden directory is refused, and nothing is created`(_ kind: StoreKind) throws {
        let manager = FileManager.default
        try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(try codeOfOpening(kind, path) == .cannotOpen)
        #expect(try codeOfOpening(kind, path + "/missing/store") == .cannotOpen)
        #expect(try manager.contentsOfDirectory(atPath: path).isEmpty)
        try manager.createSymbolicLink(
            atPath: directory.file("link"), withDestinationPath: directory.file("target"))
        #expect(try codeOfOpening(kind, directory.file("link")) == .cannotOpen)
        try manager.createSymbolicLink(
            atPath: directory.file("loop"), withDestinationPath: directory.file("loop"))
        #expect(try codeOfOpening(kind, directory.file("loop")) == .cannotOpen)
        #expect(!manager.fileExists(atPath: directory.file("target")))
    }

    /// Makes a closed store with 200 items, pending operations, long texts and free pages, and returns its bytes.
    private func filledStore(_ kind: StoreKind) throws -> Data {
        let store = try kind.open(
            at: path,
            tables: [
                SyncTableDefinition(
                    "Thing",
                    columns: [SyncColumn("text", .text, isIndexed: true), SyncColumn("integer", .integer)])
            ])
        try store.write { transaction in
            for number in 1...200 {
                let text = ItemValue.text(String(repeating: "\(number) ", count: 40))
                try transaction.upsert([Item(id: "\(number)", fields: ["text": text])], in: "Thing")
                try transaction.put(
                    TableOperation(id: Int64(number), table: "Thing", itemID: "\(number)", kind: .insert))
            }
        }
        try store.write { transaction in
            let long = ItemValue.text(String(repeating: "long ", count: 4000))
            let items = ["long", "removed"].map { Item(id: $0, fields: ["text": long]) }
            try transaction.upsert(items, in: "Thing")
        }
        try store.write { transaction in
            try transaction.deleteItems(ids: ["removed"] + (101...150).map { "\($0)" }, in: "Thing")
        }
        try store.close()
        return try Data(contentsOf: URL(filePath: path))
    }

    /// Opens the damaged file in another process, which may fail with a typed error.
    private func probe(_ kind: StoreKind, _ content: Data, _ comment: Comment) async throws {
        try content.write(to: URL(filePath: path))
        let child = try await ChildProcess.run(["probe", kind.rawValue, path])
        switch child.end {
        case .exited(0): break
        case .exited(2): #expect(child.lines.last == "error corrupt", comment)
        default: Issue.record("The process ended with \(child.end): \(comment)")
        }
        for file in ["-wal", "-shm", "-lock", ".lock"] {
            try? FileManager.default.removeItem(atPath: path + file)
        }
    }

    @Test func `a truncated SQLite store is corrupt or readable`() async throws {
        let whole = try filledStore(.sqlite)
        for length in stride(from: 1024, to: whole.count, by: 4096) {
            try await probe(.sqlite, whole.prefix(length), "truncated to \(length) of \(whole.count) bytes")
        }
    }

    @Test func `an SQLite store with a damaged page is corrupt or readable`() async throws {
        let whole = try filledStore(.sqlite)
        for page in 0..<whole.count / 4096 {
            for offset in Thoroughness.sample([0, 1, 5, 8, 100, 2000], every: 4) {
                var content = whole
                content[page * 4096 + offset] ^= 0xFF
                try await probe(.sqlite, content, "byte \(offset) of page \(page)")
            }
        }
    }

    @Test func `an LMDB store truncated to any length is corrupt or readable`() async throws {
        let whole = try filledStore(.lmdb)
        let boundaries = stride(from: 4096, to: whole.count, by: 4096).flatMap { [$0 - 1, $0, $0 + 1] }
        for length in Thoroughness.sample(boundaries, every: 7) + [1, 16, 100, 151, 4112, 4247, 4248] {
            try await probe(.lmdb, whole.prefix(length), "truncated to \(length) of \(whole.count) bytes")
        }
    }

    @Test func `an LMDB store with a damaged meta page is corrupt or readable`() async throws {
        let whole = try filledStore(.lmdb)
        let offsets = Thoroughness.sample(Array(0..<152), every: 19) + [10, 16, 20, 24, 28]
        for position in [0, 4096].flatMap({ page in offsets.map { page + $0 } }) {
            var content = whole
            content[position] ^= 0xFF
            try await probe(.lmdb, content, "byte \(position)")
        }
    }

    @Test func `an LMDB store with a damaged page is corrupt or readable`() async throws {
        let whole = try filledStore(.lmdb)
        let pages = Thoroughness.sample(Array(2..<whole.count / 4096), every: 5)
        for page in pages {
            let range = page * 4096..<(page + 1) * 4096
            for offset in Thoroughness.sample([0, 10, 12, 14, 16, 17, 40, 4000, 4090], every: 4) {
                var content = whole
                content[range.lowerBound + offset] ^= 0xFF
                try await probe(.lmdb, content, "byte \(offset) of page \(page)")
            }
            var content = whole
            content.replaceSubrange(range, with: Data(count: 4096))
            try await probe(.lmdb, content, "page \(page) is zero")
            let other = pages.last(where: { $0 != page }) ?? 2
            content.replaceSubrange(range, with: whole[other * 4096..<(other + 1) * 4096])
            try await probe(.lmdb, content, "page \(page) is a copy of page \(other)")
        }
    }

    @Test(arguments: StoreKind.persistent, [400, 1000, 4000])
    func `a store that cannot grow throws a typed error, and keeps what was written`(
        _ kind: StoreKind, kilobytes: Int
    )
        async throws
    {
        let child = try await ChildProcess.run(["fill", kind.rawValue, path, "\(kilobytes * 1024)"])
        #expect(child.end == .exited(0), "\(child.lines)")
        // The limit of a process is another error of the system than a full disk.
        #expect(["refused full", "refused inputOutput"].contains(child.lines.first))
        #expect(child.lines.dropFirst() == ["kept true", "reopened true"])
    }
}
