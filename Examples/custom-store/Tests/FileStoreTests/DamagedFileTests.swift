// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import FileStore
import Foundation
import SyncCore
import Testing

/// Files as a crash or a failing disk leaves them.
final class DamagedFileTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    private let tables = [SyncTableDefinition("Todo", columns: [SyncColumn("text", .text)])]
    private let headerLength = "plain file store 1\n".utf8.count
    private var path: String { directory.appending(path: "store").path }

    init() throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let store = try FileStore(path: path, tables: tables)
        for id in ["a", "b", "c"] { try store.write { try $0.upsert([Item(id: id)], in: "Todo") } }
        try store.close()
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    private func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(filePath: path)) }

    /// Returns the ranges of the records: eight bytes of length, eight of checksum, then the changes.
    private func records(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = headerLength
        while start < bytes.count {
            let length = bytes[start..<start + 8].reduce(0) { $0 << 8 | Int($1) }
            ranges.append(start..<start + 16 + length)
            start += 16 + length
        }
        return ranges
    }

    private func openedIDs() throws -> [String] {
        let store = try FileStore(path: path, tables: tables)
        defer { try? store.close() }
        return try store.read { try $0.items(matching: TableQuery("Todo")).items.map(\.id) }
    }

    @Test func `a damaged record before the last one is reported, and the file is not changed`() throws {
        let bytes = try bytes()
        let records = records(in: bytes)
        #expect(records.count == 4)
        for record in records.dropLast() {
            // Each byte of the length and the checksum, and the first byte of the changes.
            for position in record.prefix(17) {
                var damaged = bytes
                damaged[position] ^= 0x40
                try write(damaged)
                let error = #expect(throws: StoreError.self) { try openedIDs() }
                #expect(error?.code == .corrupt)
                #expect(try self.bytes() == damaged)
            }
        }
        try write(bytes)
        #expect(try openedIDs() == ["a", "b", "c"])
    }

    @Test func `a last record that is incomplete is removed`() throws {
        let bytes = try bytes()
        let last = try #require(records(in: bytes).last)
        var files = last.map { Array(bytes[..<$0]) }
        var isWrong = bytes
        isWrong[last.upperBound - 1] ^= 1
        var hasNoLength = bytes
        for position in last.prefix(8) { hasNoLength[position] = 0 }
        let isEmpty = bytes[..<last.lowerBound] + Array(repeating: 0, count: last.count)
        files += [isWrong, hasNoLength, Array(isEmpty)]
        for file in files {
            try write(file)
            #expect(try openedIDs() == ["a", "b"])
            #expect(try self.bytes() == Array(bytes[..<last.lowerBound]))
        }
    }

    @Test func `changes of a record with a matching checksum that cannot be decoded are damage`() throws {
        var bytes = try bytes()
        // A record of one byte, with its FNV-1a checksum.
        bytes += [0, 0, 0, 0, 0, 0, 0, 1] + [0xAF, 0x63, 0xBD, 0x4C, 0x86, 0x01, 0xB7, 0xDF] + [0]
        try write(bytes)
        let error = #expect(throws: StoreError.self) { try openedIDs() }
        #expect(error?.code == .corrupt)
        #expect(try self.bytes() == bytes)
    }
}
