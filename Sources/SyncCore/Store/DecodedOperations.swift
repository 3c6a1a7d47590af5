// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations that a store has read or written last, beside their stored form.
///
/// A push reads an operation in several transactions, and an edit reads the pending one. While its stored bytes are the
/// same, it is not decoded again. The bytes are compared with each read, so that nothing has to be invalidated: not after a
/// rollback, nor when another process has changed the operation.
package final class DecodedOperations: Sendable {
    private final class Entry: Sendable {
        let operation: TableOperation
        private let first: [UInt8]
        private let second: [UInt8]

        init(_ operation: TableOperation, _ stored: StoredOperation) {
            (self.operation, first, second) = (operation, Array(stored.first), Array(stored.second))
        }

        func isStored(as other: StoredOperation) -> Bool {
            first.withUnsafeBytes { $0.hasSameBytes(as: other.first) }
                && second.withUnsafeBytes { $0.hasSameBytes(as: other.second) }
        }
    }

    /// Ids are consecutive, so the last operations do not replace each other.
    private static let capacity = 1024
    /// A longer operation is always decoded.
    private static let maxLength = 4096

    private let entries = Mutex([Entry?](repeating: nil, count: capacity))

    package init() {}

    /// Returns the operation that the columns contain.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/corrupt``.
    package func operation(
        id: Int64, table: String, itemID: String, stored: StoredOperation
    ) throws(StoreError) -> TableOperation {
        if let entry = entries.withLock({ $0[Self.place(of: id)] }), entry.operation.id == id,
            entry.operation.itemID.hasSameBytes(as: itemID), entry.operation.table.hasSameBytes(as: table),
            entry.isStored(as: stored)
        {
            return entry.operation
        }
        let operation = try stored.operation(id: id, table: table, itemID: itemID)
        add(operation, stored: stored)
        return operation
    }

    /// Adds an operation that is written in this form.
    package func add(_ operation: TableOperation, stored: StoredOperation) {
        guard stored.first.count + stored.second.count <= Self.maxLength else { return }
        let entry = Entry(operation, stored)
        // The entry before is deallocated without the lock.
        let replaced = entries.withLock { entries in
            let place = Self.place(of: operation.id)
            defer { entries[place] = entry }
            return entries[place]
        }
        withExtendedLifetime(replaced) {}
    }

    private static func place(of id: Int64) -> Int { Int(UInt64(bitPattern: id) % UInt64(capacity)) }
}

/// The stored form of an operation, in borrowed memory.
package enum StoredOperation {
    /// The form of ``TableOperation/appendBytes(to:)``.
    case bytes(UnsafeRawBufferPointer)
    /// ``TableOperation/storedProperties`` and, if they do not contain them, the rows; empty if there are none.
    case properties(UnsafeRawBufferPointer, rows: UnsafeRawBufferPointer)

    fileprivate var first: UnsafeRawBufferPointer {
        switch self {
        case .bytes(let bytes), .properties(let bytes, _): bytes
        }
    }

    fileprivate var second: UnsafeRawBufferPointer {
        switch self {
        case .bytes: UnsafeRawBufferPointer(start: nil, count: 0)
        case .properties(_, let rows): rows
        }
    }

    fileprivate func operation(id: Int64, table: String, itemID: String) throws(StoreError) -> TableOperation
    {
        switch self {
        case .bytes(let bytes): return try TableOperation(id: id, table: table, itemID: itemID, bytes: bytes)
        case .properties(let properties, let rows):
            var operation = try TableOperation(
                id: id, table: table, itemID: itemID, storedProperties: properties)
            if !rows.isEmpty { try operation.readRows(rows) }
            return operation
        }
    }
}
