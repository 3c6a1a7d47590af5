// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// The file: a heading, then one record for each transaction, with its length and checksum in front.
final class ChangeLog: Sendable {
    typealias Change = (key: [UInt8], value: [UInt8]?)

    private static let heading = Array("plain file store 1\n".utf8)
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

    /// Makes all changes again, and cuts off a record whose write never returned.
    func replay() throws -> SortedBytes {
        try file.withLock { file in
            let bytes = [UInt8](try file.readToEnd() ?? Data())
            guard !bytes.isEmpty, !Self.heading.starts(with: bytes) else {
                // New, or its process died before the heading was whole.
                try file.truncate(atOffset: 0)
                try file.write(contentsOf: Self.heading)
                try file.synchronize()
                return SortedBytes()
            }
            guard bytes.starts(with: Self.heading) else {
                try file.close()
                throw StoreError(.corrupt, "'\(path)' is not a plain file store.")
            }
            var entries = SortedBytes()
            var reader = RecordReader(bytes: bytes, position: Self.heading.count)
            while let changes = reader.next() {
                for (key, value) in changes { entries[key] = value }
            }
            try file.truncate(atOffset: UInt64(reader.position))
            return entries
        }
    }

    /// Adds a record; it is on the disk when this returns. When this throws, the file is as before.
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

    /// FNV-1a: a record that was cut short or mixed up does not have it by chance.
    fileprivate static func checksum(of body: ArraySlice<UInt8>) -> [UInt8] {
        bytes(body.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    }

    private static func bytes(_ number: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

/// Reads whole records; stops before the first that is not.
private struct RecordReader {
    let bytes: [UInt8]
    /// Where the last whole record ends.
    private(set) var position: Int

    init(bytes: [UInt8], position: Int) {
        self.bytes = bytes
        self.position = position
    }

    mutating func next() -> [ChangeLog.Change]? {
        var place = position
        guard let length = number(&place), let sum = take(8, &place), let body = take(length, &place),
            ChangeLog.checksum(of: body) == Array(sum)
        else { return nil }
        let end = place
        place = body.startIndex
        var changes: [ChangeLog.Change] = []
        while place < end {
            guard let key = number(&place).flatMap({ take($0, &place) }), let kind = take(1, &place) else {
                return nil
            }
            guard kind.first == 1 else {
                changes.append((Array(key), nil))
                continue
            }
            guard let value = number(&place).flatMap({ take($0, &place) }) else { return nil }
            changes.append((Array(key), Array(value)))
        }
        position = end
        return changes
    }

    private func take(_ count: Int, _ place: inout Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.count - place else { return nil }
        defer { place += count }
        return bytes[place..<place + count]
    }

    private func number(_ place: inout Int) -> Int? {
        take(8, &place).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }
}
