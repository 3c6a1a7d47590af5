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
        let properties: [UInt8]

        init(_ operation: TableOperation, _ properties: UnsafeRawBufferPointer) {
            (self.operation, self.properties) = (operation, Array(properties))
        }

        func isStored(as properties: UnsafeRawBufferPointer) -> Bool {
            self.properties.withUnsafeBytes { $0.hasSameBytes(as: properties) }
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
        id: Int64, table: String, itemID: String, storedProperties properties: UnsafeRawBufferPointer
    ) throws(StoreError) -> TableOperation {
        if let entry = entries.withLock({ $0[Self.place(of: id)] }), entry.operation.id == id,
            entry.operation.itemID.hasSameBytes(as: itemID), entry.operation.table.hasSameBytes(as: table),
            entry.isStored(as: properties)
        {
            return entry.operation
        }
        let operation = try TableOperation(
            id: id, table: table, itemID: itemID, storedProperties: properties)
        add(operation, storedProperties: properties)
        return operation
    }

    /// Adds an operation that is written in this form.
    package func add(_ operation: TableOperation, storedProperties properties: UnsafeRawBufferPointer) {
        guard properties.count <= Self.maxLength else { return }
        let entry = Entry(operation, properties)
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
