// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// The file of the store: a header, then one record per transaction with its length and checksum.
final class ChangeLog: Sendable {
    typealias Change = (key: [UInt8], value: [UInt8]?)

    private static let header = Array("plain file store 1\n".utf8)
    private let file: Mutex<FileHandle>
    private let path: String

    init(path: String) throws {
        self.path = path
        if !FileManager.default.fileExists(atPath: path) {
            guard
                FileManager.default.createFile(
                    atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw StoreError(.cannotOpen, "'\(path)' cannot be created.") }
        }
        guard let handle = FileHandle(forUpdatingAtPath: path) else {
            throw StoreError(.cannotOpen, "'\(path)' cannot be opened.")
        }
        file = Mutex(handle)
    }

    /// Replays all records, and truncates the file before a record that is incomplete.
    func replay() throws -> SortedBytes {
        try file.withLock { file in
            let bytes = [UInt8](try file.readToEnd() ?? Data())
            guard !bytes.isEmpty, !Self.header.starts(with: bytes) else {
                // A new file, or one whose process ended before the header was complete.
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: Self.header)
                try file.synchronize()
                return SortedBytes()
            }
            guard bytes.starts(with: Self.header) else {
                try file.close()
                throw StoreError(.corrupt, "'\(path)' was not written by FileStore; choose another path.")
            }
            var entries = SortedBytes()
            var reader = RecordReader(bytes: bytes, position: Self.header.count)
            while let changes = reader.next() {
                for (key, value) in changes { entries[key] = value }
            }
            try file.truncate(atOffset: UInt64(reader.position))
            return entries
        }
    }

    /// Appends a record and syncs it to disk. If this throws, the file is unchanged.
    func append(_ changes: [Change]) throws {
        let record = Self.record(of: changes)
        try file.withLock { file in
            let end = try file.seekToEnd()
            do {
                try file.write(contentsOf: record)
                try file.synchronize()
            } catch {
                try? file.truncate(atOffset: end)
                throw StoreError(.inputOutput, "'\(path)' cannot be written.", cause: error)
            }
        }
    }

    func close() { file.withLock { try? $0.close() } }

    private static func record(of changes: [Change]) -> [UInt8] {
        var body: [UInt8] = []
        for (key, value) in changes {
            body += number(key.count) + key
            body += [value == nil ? 0 : 1]
            if let value { body += number(value.count) + value }
        }
        return number(body.count) + checksum(of: body[...]) + body
    }

    fileprivate static func number(_ number: Int) -> [UInt8] { bytes(UInt64(number)) }

    /// FNV-1a, to detect incomplete or damaged records.
    fileprivate static func checksum(of body: ArraySlice<UInt8>) -> [UInt8] {
        bytes(body.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// Reads records up to the first incomplete one.
private struct RecordReader {
    let bytes: [UInt8]
    /// The end of the last complete record.
    private(set) var position: Int

    init(bytes: [UInt8], position: Int) {
        self.bytes = bytes
        self.position = position
    }

    mutating func next() -> [ChangeLog.Change]? {
        var offset = position
        guard let length = number(&offset), let sum = slice(8, &offset), let body = slice(length, &offset),
            ChangeLog.checksum(of: body) == Array(sum)
        else { return nil }
        let end = offset
        offset = body.startIndex
        var changes: [ChangeLog.Change] = []
        while offset < end {
            guard let key = number(&offset).flatMap({ slice($0, &offset) }), let kind = slice(1, &offset)
            else {
                return nil
            }
            guard kind.first == 1 else {
                changes.append((Array(key), nil))
                continue
            }
            guard let value = number(&offset).flatMap({ slice($0, &offset) }) else { return nil }
            changes.append((Array(key), Array(value)))
        }
        position = end
        return changes
    }

    private func slice(_ count: Int, _ offset: inout Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.count - offset else { return nil }
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    private func number(_ offset: inout Int) -> Int? {
        slice(8, &offset).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }
}
