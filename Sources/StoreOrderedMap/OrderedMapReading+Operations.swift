// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension OrderedMapReading {
    func operation(id: Int64) throws -> TableOperation? {
        try get(StoreKey.operation(id)) { try operation(id: id, bytes: $0) }
    }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        guard limit > 0, id < .max else { return [] }
        var operations: [TableOperation] = []
        if let table {
            try scan(prefix: StoreKey.queue(of: table), from: StoreKey.queued(id + 1, of: table)) { key, _ in
                operations.append(try queuedOperation(id: key.operationID()))
                return operations.count < limit
            }
        } else {
            try scan(prefix: StoreKey.operations, from: StoreKey.operation(id + 1)) { key, value in
                operations.append(try operation(id: key.operationID(), bytes: value))
                return operations.count < limit
            }
        }
        return operations
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try operationIDs(ofItem: itemID, in: table).map(queuedOperation)
    }

    func operationCount(in table: String?) throws -> Int {
        Int(try number(table.map(StoreKey.operationCount) ?? StoreKey.allOperationsCount))
    }

    fileprivate func operationIDs(ofItem itemID: String, in table: String) throws -> [Int64] {
        let ids = try get(StoreKey.operations(ofItem: itemID, of: table)) { value in
            var reader = ByteReader(value)
            var ids: [Int64] = []
            while !reader.isAtEnd { ids.append(try reader.fixed()) }
            return ids
        }
        return ids ?? []
    }

    private func operation(id: Int64, bytes: UnsafeRawBufferPointer) throws -> TableOperation {
        var reader = ByteReader(bytes)
        let target = try OperationTarget(reading: &reader)
        return try decodedOperations.operation(
            id: id, table: target.table, itemID: target.itemID, stored: .bytes(reader.rest))
    }

    private func queuedOperation(id: Int64) throws -> TableOperation {
        guard let operation = try operation(id: id) else {
            throw StoreError(.corrupt, "The store is damaged: operation \(id) is in an index but not stored.")
        }
        return operation
    }
}

extension OrderedMapWriter {
    func lastOperationID() throws -> Int64 { try number(StoreKey.lastOperationID) }

    func put(_ operation: TableOperation) throws {
        let key = StoreKey.operation(operation.id)
        let isNew = try operation.id > lastOperationID()
        let old = isNew ? nil : try get(key) { try OperationTarget(bytes: $0) }
        let target = OperationTarget(table: operation.table, itemID: operation.itemID)
        if old != target {
            if let old { try removeFromQueue(id: operation.id, at: old) }
            try addToQueue(id: operation.id, at: target)
        }
        var bytes = ByteWriter(capacity: 512)
        target.append(to: &bytes)
        let start = bytes.count
        operation.appendBytes(to: &bytes)
        bytes.withBytes {
            decodedOperations.add(operation, stored: .bytes(UnsafeRawBufferPointer(rebasing: $0[start...])))
        }
        try put(bytes.array, for: key)
        if isNew { set(operation.id, for: StoreKey.lastOperationID) }
    }

    func removeOperation(id: Int64) throws {
        guard let target = try get(StoreKey.operation(id), { try OperationTarget(bytes: $0) }) else { return }
        try removeFromQueue(id: id, at: target)
        try delete(StoreKey.operation(id))
    }

    private func addToQueue(id: Int64, at target: OperationTarget) throws {
        try put([], for: StoreKey.queued(id, of: target.table))
        let key = StoreKey.operations(ofItem: target.itemID, of: target.table)
        // Most items have at most one operation.
        if try !insert(Self.value(of: [id]), for: key) {
            let ids = try operationIDs(ofItem: target.itemID, in: target.table)
            try put(Self.value(of: (ids + [id]).sorted()), for: key)
        }
        try changeCount(by: 1, in: target.table)
    }

    private func removeFromQueue(id: Int64, at target: OperationTarget) throws {
        try delete(StoreKey.queued(id, of: target.table))
        let key = StoreKey.operations(ofItem: target.itemID, of: target.table)
        let others = try operationIDs(ofItem: target.itemID, in: target.table).filter { $0 != id }
        if others.isEmpty { try delete(key) } else { try put(Self.value(of: others), for: key) }
        try changeCount(by: -1, in: target.table)
    }

    private static func value(of ids: [Int64]) -> [UInt8] {
        var value = ByteWriter()
        for id in ids { value.append(fixed: id) }
        return value.array
    }

    /// Updates the stored counts, so that reading a count takes one lookup.
    private func changeCount(by change: Int64, in table: String) throws {
        for key in [StoreKey.allOperationsCount, StoreKey.operationCount(of: table)] {
            try changeNumber(key, by: change)
        }
    }
}

/// The table and item of an operation, which other keys depend on.
private struct OperationTarget: Equatable {
    let table: String
    let itemID: String

    static func == (left: Self, right: Self) -> Bool {
        left.table.hasSameBytes(as: right.table) && left.itemID.hasSameBytes(as: right.itemID)
    }
}

extension OperationTarget {
    init(bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var reader = ByteReader(bytes)
        try self.init(reading: &reader)
    }

    init(reading reader: inout ByteReader) throws(StoreError) {
        table = try reader.text()
        itemID = try reader.text()
    }

    func append(to bytes: inout ByteWriter) {
        bytes.append(counted: table)
        bytes.append(counted: itemID)
    }
}

extension UnsafeRawBufferPointer {
    /// Reads the id of an operation, the last part of a key.
    func operationID() throws(StoreError) -> Int64 {
        var reader = ByteReader(self)
        let id = try reader.ordered()
        try reader.requireEnd(of: "the key of an operation")
        return id
    }
}
