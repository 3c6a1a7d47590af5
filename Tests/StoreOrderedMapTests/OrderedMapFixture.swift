// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
import SyncCore
import Synchronization

/// The simplest ordered map: a sorted array that each write copies. It counts its calls.
final class SortedArrayMap: OrderedMap {
    typealias Entry = (key: [UInt8], value: [UInt8])

    struct Work: Equatable {
        var gets = 0
        var scans = 0
        var scanned = 0
        var changes = 0
    }

    let maxKeyLength: Int
    private let writeLock = NSLock()
    private let committed = Mutex<[Entry]?>([])
    private let work = Mutex(Work())

    init(maxKeyLength: Int = 511) {
        self.maxKeyLength = maxKeyLength
    }

    func read<T>(_ body: (any OrderedMapSnapshot) throws -> T) throws -> T {
        try body(Transaction(entries: entries(), map: self))
    }

    func write<T>(_ body: (any OrderedMapTransaction) throws -> T) throws -> T {
        try writeLock.withLock {
            let transaction = Transaction(entries: try entries(), map: self)
            let result = try body(transaction)
            committed.withLock { $0 = transaction.entries }
            return result
        }
    }

    func close() { committed.withLock { $0 = nil } }

    func entries() throws -> [Entry] {
        guard let entries = committed.withLock({ $0 }) else { throw StoreError(.closed, "Closed.") }
        return entries
    }

    /// Returns the calls that the body makes on this map.
    func work(_ body: () throws -> Void) rethrows -> Work {
        work.withLock { $0 = Work() }
        try body()
        return work.withLock { $0 }
    }

    final class Transaction: OrderedMapTransaction {
        private(set) var entries: [Entry]
        private let map: SortedArrayMap

        init(entries: [Entry], map: SortedArrayMap) {
            self.entries = entries
            self.map = map
        }

        func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
            map.work.withLock { $0.gets += 1 }
            try map.check(key)
            let index = position(of: key)
            guard index < entries.count, entries[index].key == key else { return nil }
            return try entries[index].value.withUnsafeBytes(body)
        }

        func scan(
            from start: [UInt8],
            _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
        ) throws {
            map.work.withLock { $0.scans += 1 }
            for entry in entries[position(of: start)...] {
                map.work.withLock { $0.scanned += 1 }
                let shouldContinue = try entry.key.withUnsafeBytes { key in
                    try entry.value.withUnsafeBytes { try body(key, $0) }
                }
                if !shouldContinue { return }
            }
        }

        func put(_ value: [UInt8], for key: [UInt8]) throws {
            map.work.withLock { $0.changes += 1 }
            try map.check(key)
            let index = position(of: key)
            if index < entries.count, entries[index].key == key {
                entries[index].value = value
            } else {
                entries.insert((key, value), at: index)
            }
        }

        func delete(_ key: [UInt8]) throws {
            map.work.withLock { $0.changes += 1 }
            try map.check(key)
            let index = position(of: key)
            if index < entries.count, entries[index].key == key { entries.remove(at: index) }
        }

        private func position(of key: [UInt8]) -> Int {
            var (low, high) = (0, entries.count)
            while low < high {
                let middle = (low + high) / 2
                if entries[middle].key.lexicographicallyPrecedes(key) {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            return low
        }
    }

    private func check(_ key: [UInt8]) throws {
        guard (1...maxKeyLength).contains(key.count) else {
            throw StoreError(.inputOutput, "A key of \(key.count) bytes was used.")
        }
    }
}

extension OrderedMapStore {
    static let allColumns = SyncTableDefinition(
        "Todo",
        columns: [
            SyncColumn("bool", .bool), SyncColumn("integer", .integer), SyncColumn("double", .double),
            SyncColumn("text", .text),
            SyncColumn("date", .date), SyncColumn("data", .data), SyncColumn("json", .json),
        ])

    /// Opens a store on the map, by default with a table that has a column of each type.
    init(
        on map: SortedArrayMap, tables: [SyncTableDefinition] = [allColumns], usesIndexes: Bool = false,
        isMultiProcess: Bool = false
    ) throws {
        try self.init(
            map, tables: tables,
            capabilities: StoreCapabilities(
                isDurable: false, hasConcurrentReaders: true, isMultiProcess: isMultiProcess,
                usesIndexes: usesIndexes))
    }
}

/// Items with edge cases of exact storage.
enum EdgeCaseItems {
    static let all: [Item] = ids.map { Item(id: $0) } + values + system

    /// Ids that incorrect comparison, separation or truncation would confuse.
    static let ids: [String] =
        [
            "e\u{301}", "\u{e9}", "A", "a", "a\u{1}", "a ", "\u{10FFFF}", "\u{2028}", "\u{202E}rtl", "I:1",
            "%2F", "..a",
            String(repeating: "\u{1F600}", count: 255),
            String(repeating: "\u{1F600}", count: 254) + "\u{1F601}",
            String(repeating: "\u{1F600}", count: 254),
        ]
        + (485...512).flatMap {
            [String(repeating: "x", count: $0), String(repeating: "x", count: $0) + "y"]
        }

    private static let values: [Item] = [
        Item(id: "missing"), Item(id: "null", fields: ["text": nil, "data": nil, "json": nil]),
        Item(id: "limits", fields: ["integer": .int(.min), "json": [.int(.max), .int(-1), 0]]),
        Item(id: "zero", fields: ["double": .double(-0.0), "json": [0, 0.0, .double(-0.0)]]),
        Item(
            id: "double",
            fields: ["double": .double(.leastNonzeroMagnitude), "json": .double(-.greatestFiniteMagnitude)]),
        Item(id: "text", fields: ["text": "a\0b\u{7f}\u{FEFF}e\u{301}", "json": ""]),
        Item(
            id: "date0",
            fields: ["date": .date(Timestamp("2014-05-30T18:30:00Z") ?? Timestamp(Date.distantPast))]),
        Item(
            id: "date7",
            fields: ["date": .date(Timestamp("2014-05-30T18:30:00.0000000Z") ?? Timestamp(Date()))]),
        Item(
            id: "year1",
            fields: ["date": .date(Timestamp("0001-01-01T00:00:00.000000001Z") ?? Timestamp(Date()))]),
        Item(id: "empty", fields: ["data": .data(Data()), "text": "", "json": []]),
        Item(id: "data", fields: ["data": .data(Data(0...255))]),
        Item(id: "json", fields: ["json": ["$date": "no date", "": ["a": [nil, true, [:]], "$": 1]]]),
        Item(id: "long", fields: ["text": .text(String(repeating: "\u{e9}", count: 100_000))]),
    ]

    private static let system: [Item] = [
        Item(
            id: "system", fields: ["bool": false],
            system: SystemProperties(
                createdAt: Timestamp("2014-05-30T18:30:00.12Z"), updatedAt: Timestamp("2015-01-01T00:00:00Z"),
                version: "\"\0\"", deleted: true, supersededVersions: ["", "a", "a"],
                undeclared: ["": nil, "x": ["a": [1, 1.0]]])),
        Item(id: "version", system: SystemProperties(version: "")),
    ]
}
