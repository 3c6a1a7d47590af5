// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Lets a map whose keys have a greatest length hold keys of any length, exactly and in order.
///
/// A key that is shorter than the stem is stored as it is. Of any other, the stem and a hash of the rest are stored,
/// which together have the greatest length; the value lists the rest of each key that comes to this, with its value.
/// Keys are thus told apart by all their bytes, whatever the hash does, and a scan brings those of one stem into order
/// by reading them together.
struct LongKeys: Sendable {
    private let maxKeyLength: Int
    private let stemLength: Int
    private let hash: @Sendable (ArraySlice<UInt8>) -> UInt64

    init(
        maxKeyLength: Int, hash: @escaping @Sendable (ArraySlice<UInt8>) -> UInt64 = fowlerNollVo
    ) {
        self.maxKeyLength = maxKeyLength
        self.hash = hash
        stemLength = maxKeyLength - MemoryLayout<UInt64>.size
    }

    // MARK: Read

    func get<T>(
        _ key: [UInt8], in map: any OrderedMapSnapshot, _ body: (UnsafeRawBufferPointer) throws -> T
    ) throws -> T? {
        guard key.count >= stemLength else { return try map.get(key, body) }
        let found = try map.get(folded(key)) { bucket -> T? in
            let rest = key[stemLength...]
            for entry in try entries(in: bucket) where entry.rest.elementsEqual(rest) {
                return try body(entry.value)
            }
            return nil
        }
        return found ?? nil
    }

    /// Runs the body on each key that begins with the prefix, in order, without that prefix, until it returns false.
    ///
    /// - Parameter start: a key to begin at, instead of the first; it begins with the prefix.
    func scan(
        prefix: [UInt8], from start: [UInt8]? = nil, in map: any OrderedMapSnapshot,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let start = start ?? prefix
        var run = Run()
        var isAtEnd = false
        func deliverRun() throws {
            for (key, value) in run.sorted() where !isAtEnd && !key.lexicographicallyPrecedes(start) {
                isAtEnd = try !key.withUnsafeBytes { key in
                    try value.withUnsafeBytes { value in
                        try key.dropping(prefix).map { try body($0, value) } ?? false
                    }
                }
            }
            run = Run()
        }
        try map.scan(from: Array(start.prefix(stemLength))) { key, value in
            let stem = key.count == maxKeyLength ? Array(key.prefix(stemLength)) : nil
            if run.stem != stem { try deliverRun() }
            if isAtEnd { return false }
            if let stem {
                guard stem.starts(with: prefix.prefix(stemLength)) else { return false }
                run.stem = stem
                run.entries += try entries(in: value).map { (stem + $0.rest, Array($0.value)) }
                return true
            }
            guard let rest = key.dropping(prefix) else { return false }
            isAtEnd = try !body(rest, value)
            return !isAtEnd
        }
        try deliverRun()
    }

    // MARK: Change

    func put(_ value: [UInt8], for key: [UInt8], in map: any OrderedMapTransaction) throws {
        guard key.count >= stemLength else { return try map.put(value, for: key) }
        var bucket = ByteWriter()
        try self.bucket(without: key, in: map)?.withUnsafeBytes { bucket.append($0) }
        key[stemLength...].withUnsafeBytes { bucket.append(counted: $0) }
        value.withUnsafeBytes { bucket.append(counted: $0) }
        try map.put(bucket.array, for: folded(key))
    }

    func insert(_ value: [UInt8], for key: [UInt8], in map: any OrderedMapTransaction) throws -> Bool {
        guard key.count >= stemLength else { return try map.insert(value, for: key) }
        guard try get(key, in: map, { _ in }) == nil else { return false }
        try put(value, for: key, in: map)
        return true
    }

    func delete(_ key: [UInt8], in map: any OrderedMapTransaction) throws {
        guard key.count >= stemLength else { return try map.delete(key) }
        guard let bucket = try bucket(without: key, in: map) else { return }
        if bucket.isEmpty { try map.delete(folded(key)) } else { try map.put(bucket, for: folded(key)) }
    }

    // MARK: Buckets

    private func bucket(without key: [UInt8], in map: any OrderedMapSnapshot) throws -> [UInt8]? {
        try map.get(folded(key)) { old in
            var bucket = ByteWriter()
            for entry in try entries(in: old) where !entry.rest.elementsEqual(key[stemLength...]) {
                bucket.append(counted: entry.rest)
                bucket.append(counted: entry.value)
            }
            return bucket.array
        }
    }

    private typealias Entry = (rest: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)

    private func entries(in bucket: UnsafeRawBufferPointer) throws -> [Entry] {
        var reader = ByteReader(bucket)
        var entries: [Entry] = []
        while !reader.isAtEnd { entries.append((try reader.counted(), try reader.counted())) }
        return entries
    }

    private func folded(_ key: [UInt8]) -> [UInt8] {
        var folded = ByteWriter(capacity: maxKeyLength)
        key.prefix(stemLength).withUnsafeBytes { folded.append($0) }
        folded.append(fixed: hash(key[stemLength...]))
        return folded.array
    }

    /// FNV-1a: short, the same on every machine, and good enough where a collision costs only time.
    static func fowlerNollVo(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { hash, byte in (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    /// The keys of one stem, met so far in a scan.
    private struct Run {
        var stem: [UInt8]?
        var entries: [(key: [UInt8], value: [UInt8])] = []

        func sorted() -> [(key: [UInt8], value: [UInt8])] {
            entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        }
    }
}

extension UnsafeRawBufferPointer {
    /// What comes after the prefix, or `nil` when the bytes do not begin with it.
    fileprivate func dropping(_ prefix: [UInt8]) -> UnsafeRawBufferPointer? {
        guard count >= prefix.count else { return nil }
        let (start, rest) = (self[..<prefix.count], self[prefix.count...])
        let isPrefix = prefix.withUnsafeBytes { $0.hasSameBytes(as: UnsafeRawBufferPointer(rebasing: start)) }
        return isPrefix ? UnsafeRawBufferPointer(rebasing: rest) : nil
    }
}
