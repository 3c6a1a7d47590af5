// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Reads the records of a log.
///
/// A record is the length of its changes, their checksum, and the changes. Only the last record can be incomplete: each
/// write was synced before the next one.
struct LogReader {
    private let bytes: [UInt8]
    /// The end of the last complete record.
    private(set) var position: Int

    /// A complete record whose changes are not those that were written.
    struct DamagedRecord: Error {
        /// The position of the record in the file.
        let position: Int
    }

    init(bytes: [UInt8], position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Returns the changes of the next record; `nil` at the end, or when the last record is incomplete.
    ///
    /// - Throws: ``DamagedRecord``.
    mutating func next() throws -> [ChangeLog.Change]? {
        guard let (body, isIntact) = record(at: position), isIntact || body.endIndex < bytes.endIndex else {
            // A damaged length also exceeds the file, but then complete records follow.
            guard !hasRecord(after: position) else { throw DamagedRecord(position: position) }
            return nil
        }
        guard isIntact, let changes = Self.changes(in: body) else { throw DamagedRecord(position: position) }
        position = body.endIndex
        return changes
    }

    /// Returns the changes of the record at a position, and whether they match their checksum; `nil` when the file ends
    /// before the record.
    private func record(at position: Int) -> (body: ArraySlice<UInt8>, isIntact: Bool)? {
        var rest = bytes[position...]
        // A file may have grown before the bytes of the record were stored; then its length is still 0.
        guard let length = rest.popNumber(), length != 0, let checksum = rest.pop(8),
            let body = rest.pop(length)
        else { return nil }
        return (body, checksum.elementsEqual(Self.checksum(of: body)))
    }

    /// Whether an intact record begins anywhere after a position.
    private func hasRecord(after position: Int) -> Bool {
        bytes.indices.suffix(from: position).dropFirst().contains { record(at: $0)?.isIntact == true }
    }

    private static func changes(in body: ArraySlice<UInt8>) -> [ChangeLog.Change]? {
        var rest = body
        var changes: [ChangeLog.Change] = []
        while !rest.isEmpty {
            guard let key = rest.popCounted(), let kind = rest.popFirst() else { return nil }
            if kind == 0 {
                changes.append((Array(key), nil))
            } else {
                guard let value = rest.popCounted() else { return nil }
                changes.append((Array(key), Array(value)))
            }
        }
        return changes
    }

    /// Returns the record of a transaction.
    static func record(of changes: [ChangeLog.Change]) -> [UInt8] {
        var body: [UInt8] = []
        for (key, value) in changes {
            body += encoded(UInt64(key.count)) + key
            body.append(value == nil ? 0 : 1)
            if let value { body += encoded(UInt64(value.count)) + value }
        }
        return encoded(UInt64(body.count)) + checksum(of: body[...]) + body
    }

    /// FNV-1a, to detect incomplete or damaged records.
    private static func checksum(of body: ArraySlice<UInt8>) -> [UInt8] {
        encoded(body.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    }

    private static func encoded(_ number: UInt64) -> [UInt8] {
        (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

extension ArraySlice<UInt8> {
    /// Removes and returns the first bytes; `nil` when there are fewer.
    fileprivate mutating func pop(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= self.count else { return nil }
        defer { self = dropFirst(count) }
        return prefix(count)
    }

    fileprivate mutating func popNumber() -> Int? {
        pop(8).map { $0.reduce(0) { $0 << 8 | Int($1) } }
    }

    fileprivate mutating func popCounted() -> ArraySlice<UInt8>? { popNumber().flatMap { pop($0) } }
}
