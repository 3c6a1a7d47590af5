// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Stores keys of any length, exactly and in order, in a map with a maximum key length.
///
/// Keys shorter than the stem are stored unchanged. A longer key is stored in a bucket, whose key is the stem and a
/// hash of the suffix, together of the maximum length; the bucket's value lists the suffix and value of each key. A
/// hash collision therefore costs time, not correctness. A scan sorts all keys of one stem in memory.
struct LongKeys: Sendable {
    private let maxKeyLength: Int
    private let stemLength: Int
    private let hash: @Sendable (ArraySlice<UInt8>) -> UInt64

    init(
        maxKeyLength: Int, hash: @escaping @Sendable (ArraySlice<UInt8>) -> UInt64 = { FNV1a.hash($0) }
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
        let found = try map.get(bucketKey(key)) { bucket -> T? in
            let rest = key[stemLength...]
            for entry in try entries(in: bucket) where entry.rest.elementsEqual(rest) {
                return try body(entry.value)
            }
            return nil
        }
        return found ?? nil
    }

    /// Calls the body with each key that has the prefix, in order and without the prefix, until the body returns false.
    ///
    /// - Parameter start: the first key to include, which must have the prefix; by default the first one.
    func scan(
        prefix: [UInt8], from start: [UInt8]? = nil, in map: any OrderedMapSnapshot,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        let start = start ?? prefix
        var group: StemGroup?
        var isAtEnd = false
        try map.scan(from: Array(start.prefix(stemLength))) { key, value in
            let stem = key.count == maxKeyLength ? Array(key.prefix(stemLength)) : nil
            if let read = group, read.stem != stem {
                group = nil
                isAtEnd = try !read.deliver(from: start, without: prefix, body)
                if isAtEnd { return false }
            }
            if let stem {
                guard stem.starts(with: prefix.prefix(stemLength)) else { return false }
                if group == nil { group = StemGroup(stem: stem) }
                group?.entries += try entries(in: value).map { (stem + $0.rest, Array($0.value)) }
                return true
            }
            guard let rest = key.dropping(prefix) else { return false }
            isAtEnd = try !body(rest, value)
            return !isAtEnd
        }
        if let group, !isAtEnd { _ = try group.deliver(from: start, without: prefix, body) }
    }

    // MARK: Write

    func put(_ value: [UInt8], for key: [UInt8], in map: any OrderedMapTransaction) throws {
        guard key.count >= stemLength else { return try map.put(value, for: key) }
        var bucket = ByteWriter()
        try self.bucket(without: key, in: map)?.withUnsafeBytes { bucket.append($0) }
        key[stemLength...].withUnsafeBytes { bucket.append(counted: $0) }
        value.withUnsafeBytes { bucket.append(counted: $0) }
        try map.put(bucket.array, for: bucketKey(key))
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
        if bucket.isEmpty { try map.delete(bucketKey(key)) } else { try map.put(bucket, for: bucketKey(key)) }
    }

    // MARK: Buckets

    private func bucket(without key: [UInt8], in map: any OrderedMapSnapshot) throws -> [UInt8]? {
        try map.get(bucketKey(key)) { old in
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

    private func bucketKey(_ key: [UInt8]) -> [UInt8] {
        var bucketKey = ByteWriter(capacity: maxKeyLength)
        key.prefix(stemLength).withUnsafeBytes { bucketKey.append($0) }
        bucketKey.append(fixed: hash(key[stemLength...]))
        return bucketKey.array
    }

    /// The keys of one stem that a scan has read so far.
    private struct StemGroup {
        let stem: [UInt8]
        var entries: [(key: [UInt8], value: [UInt8])] = []

        /// Calls the body with the keys from `start` on, in order and without the prefix. Returns false if the body has, or
        /// at a key without the prefix.
        func deliver(
            from start: [UInt8], without prefix: [UInt8],
            _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
        ) throws -> Bool {
            let sorted = entries.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            for (key, value) in sorted where !key.lexicographicallyPrecedes(start) {
                let goesOn = try key.withUnsafeBytes { key in
                    try value.withUnsafeBytes { value in
                        try key.dropping(prefix).map { try body($0, value) } ?? false
                    }
                }
                if !goesOn { return false }
            }
            return true
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the bytes after the prefix, or `nil` when the bytes do not begin with it.
    fileprivate func dropping(_ prefix: [UInt8]) -> UnsafeRawBufferPointer? {
        guard count >= prefix.count else { return nil }
        let (start, rest) = (self[..<prefix.count], self[prefix.count...])
        let isPrefix = prefix.withUnsafeBytes { $0.hasSameBytes(as: UnsafeRawBufferPointer(rebasing: start)) }
        return isPrefix ? UnsafeRawBufferPointer(rebasing: rest) : nil
    }
}
