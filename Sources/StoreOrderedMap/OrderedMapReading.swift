// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The reads that a snapshot and a transaction share.
protocol OrderedMapReading: StoreSnapshot {
    var map: any OrderedMapSnapshot { get }
    var keys: LongKeys { get }
    var catalog: TableCatalog { get }
    /// The columns and indexes that the map has.
    var storedColumns: StoredColumns { get }
    var decodedOperations: DecodedOperations { get }
    /// Returns the number stored under the key, or 0 when there is none.
    func number(_ key: [UInt8]) throws -> Int64
}

extension OrderedMapReading {
    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        try keys.get(key, in: map, body)
    }

    func scan(
        prefix: [UInt8], from start: [UInt8]? = nil,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try keys.scan(prefix: prefix, from: start, in: map, body)
    }

    func number(_ key: [UInt8]) throws -> Int64 { try storedNumber(key) }

    fileprivate func storedNumber(_ key: [UInt8]) throws -> Int64 {
        try get(key) { value in
            var reader = ByteReader(value)
            let number: Int64 = try reader.fixed()
            try reader.requireEnd(of: "a number")
            return number
        } ?? 0
    }
}

/// A snapshot of a store on an ordered map.
struct OrderedMapReader: OrderedMapReading {
    let map: any OrderedMapSnapshot
    let keys: LongKeys
    let catalog: TableCatalog
    var storedColumns = StoredColumns()
    var decodedOperations = DecodedOperations()
}

/// A transaction of a store on an ordered map.
struct OrderedMapWriter: OrderedMapReading {
    let transaction: any OrderedMapTransaction
    let keys: LongKeys
    let catalog: TableCatalog
    let maxIDLength: Int
    var storedColumns: StoredColumns
    let decodedOperations: DecodedOperations
    private let numbers = ChangedNumbers()

    init(
        transaction: any OrderedMapTransaction, keys: LongKeys, catalog: TableCatalog, maxIDLength: Int,
        storedColumns: StoredColumns = StoredColumns(),
        decodedOperations: DecodedOperations = DecodedOperations()
    ) {
        self.transaction = transaction
        self.keys = keys
        self.catalog = catalog
        self.maxIDLength = maxIDLength
        self.storedColumns = storedColumns
        self.decodedOperations = decodedOperations
    }

    var map: any OrderedMapSnapshot { transaction }

    func put(_ value: [UInt8], for key: [UInt8]) throws { try keys.put(value, for: key, in: transaction) }

    /// Stores a new key; returns false when the key exists.
    func insert(_ value: [UInt8], for key: [UInt8]) throws -> Bool {
        try keys.insert(value, for: key, in: transaction)
    }

    func delete(_ key: [UInt8]) throws { try keys.delete(key, in: transaction) }

    func number(_ key: [UInt8]) throws -> Int64 { try numbers[key] ?? storedNumber(key) }

    /// Sets the number of the key. `writeNumbers()` stores it when the transaction ends.
    func set(_ number: Int64, for key: [UInt8]) { numbers.set(number, for: key) }

    /// Changes the number of the key.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` when the result would be out of range.
    func changeNumber(_ key: [UInt8], by change: Int64) throws {
        let (number, overflows) = try number(key).addingReportingOverflow(change)
        guard !overflows else {
            throw StoreError(.corrupt, "The store is damaged: a stored number is out of range.")
        }
        set(number, for: key)
    }

    /// Stores the changed numbers; the last step of a transaction.
    func writeNumbers() throws {
        for (key, number) in numbers.all {
            var value = ByteWriter()
            value.append(fixed: number)
            if number == 0 { try delete(key) } else { try put(value.array, for: key) }
        }
    }
}

extension OrderedMapWriter: StoreTransaction {
    func externalCommitStamp() throws -> Int64 { try transaction.externalCommitStamp() }
}

/// Buffers the counts, which change with every operation, so that a transaction stores each once. A linear search is
/// enough: there are two counts plus one per table.
private final class ChangedNumbers {
    private(set) var all: [(key: [UInt8], number: Int64)] = []

    subscript(key: [UInt8]) -> Int64? { all.first { $0.key == key }?.number }

    func set(_ number: Int64, for key: [UInt8]) {
        if let index = all.firstIndex(where: { $0.key == key }) {
            all[index].number = number
        } else {
            all.append((key, number))
        }
    }
}
