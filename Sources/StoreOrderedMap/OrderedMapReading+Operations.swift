// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

extension OrderedMapReading {
    func operation(id: Int64) throws -> TableOperation? {
        try get(StoreKey.operation(id)) { try TableOperation(id: id, bytes: $0) }
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
                operations.append(try TableOperation(id: key.operationID(), bytes: value))
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

    private func queuedOperation(id: Int64) throws -> TableOperation {
        guard let operation = try operation(id: id) else {
            throw StoreError(.corrupt, "The operation \(id) is listed but not stored.")
        }
        return operation
    }
}

extension OrderedMapWriter {
    func lastOperationID() throws -> Int64 { try number(StoreKey.lastOperationID) }

    func put(_ operation: TableOperation) throws {
        let key = StoreKey.operation(operation.id)
        let isNew = try operation.id > lastOperationID()
        let old = isNew ? nil : try get(key) { try OperationPlace(bytes: $0) }
        let place = OperationPlace(table: operation.table, itemID: operation.itemID)
        if old != place {
            if let old { try removeFromQueue(id: operation.id, at: old) }
            try addToQueue(id: operation.id, at: place)
        }
        var bytes = ByteWriter(capacity: 512)
        place.append(to: &bytes)
        operation.appendStoredProperties(to: &bytes)
        try put(bytes.array, for: key)
        if isNew { set(operation.id, for: StoreKey.lastOperationID) }
    }

    func removeOperation(id: Int64) throws {
        guard let place = try get(StoreKey.operation(id), { try OperationPlace(bytes: $0) }) else { return }
        try removeFromQueue(id: id, at: place)
        try delete(StoreKey.operation(id))
    }

    private func addToQueue(id: Int64, at place: OperationPlace) throws {
        try put([], for: StoreKey.queued(id, of: place.table))
        let key = StoreKey.operations(ofItem: place.itemID, of: place.table)
        // Nearly all items have one operation at most.
        if try !insert(Self.value(of: [id]), for: key) {
            let ids = try operationIDs(ofItem: place.itemID, in: place.table)
            try put(Self.value(of: (ids + [id]).sorted()), for: key)
        }
        try count(1, in: place.table)
    }

    private func removeFromQueue(id: Int64, at place: OperationPlace) throws {
        try delete(StoreKey.queued(id, of: place.table))
        let key = StoreKey.operations(ofItem: place.itemID, of: place.table)
        let others = try operationIDs(ofItem: place.itemID, in: place.table).filter { $0 != id }
        if others.isEmpty { try delete(key) } else { try put(Self.value(of: others), for: key) }
        try count(-1, in: place.table)
    }

    private static func value(of ids: [Int64]) -> [UInt8] {
        var value = ByteWriter()
        for id in ids { value.append(fixed: id) }
        return value.array
    }

    /// Counts are kept, so that asking for them takes one lookup.
    private func count(_ change: Int64, in table: String) throws {
        for key in [StoreKey.allOperationsCount, StoreKey.operationCount(of: table)] {
            set(try number(key) + change, for: key)
        }
    }
}

/// Where an operation belongs: the part of it that other keys depend on.
private struct OperationPlace: Equatable {
    let table: String
    let itemID: String

    static func == (left: Self, right: Self) -> Bool {
        left.table.hasSameBytes(as: right.table) && left.itemID.hasSameBytes(as: right.itemID)
    }
}

extension OperationPlace {
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

extension TableOperation {
    fileprivate init(id: Int64, bytes: UnsafeRawBufferPointer) throws(StoreError) {
        var reader = ByteReader(bytes)
        let place = try OperationPlace(reading: &reader)
        try self.init(id: id, table: place.table, itemID: place.itemID, storedProperties: reader.rest)
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func operationID() throws(StoreError) -> Int64 {
        var reader = ByteReader(self)
        return try reader.ordered()
    }
}
