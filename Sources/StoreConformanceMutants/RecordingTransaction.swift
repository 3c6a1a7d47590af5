// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

/// A transaction that records its changes for later, and does not see them.
struct RecordingTransaction: StoreTransaction, ForwardingSnapshot {
    typealias Change = @Sendable (any StoreTransaction) throws -> Void

    let snapshot: any StoreSnapshot
    let changes: Shared<[Change]>
    var flushCount = Int.max
    var flush: ([Change]) throws -> Void = { _ in }

    /// Runs the body on a snapshot of the store, concurrently with others.
    ///
    /// - Parameters:
    ///   - flushCount: the number of changes that are passed to `flush` while the body runs, instead of being returned.
    ///   - flush: receives the changes before the body has ended.
    /// - Returns: the recorded changes.
    static func changes(
        of body: StoreFlaw.Run<any StoreTransaction>, on store: any SyncContextDataSource,
        flushingAfter flushCount: Int = .max, flush: ([Change]) throws -> Void = { _ in }
    ) throws -> [Change] {
        let changes = Shared<[Change]>([])
        try withoutActuallyEscaping(flush) { flush in
            try store.read { snapshot in
                try body(
                    RecordingTransaction(
                        snapshot: snapshot, changes: changes, flushCount: flushCount, flush: flush))
            }
        }
        return changes.value
    }

    /// Takes a snapshot, then acquires the lock, and runs the body and applies its changes while it holds the lock.
    static func write(
        _ body: StoreFlaw.Run<any StoreTransaction>, on store: any SyncContextDataSource,
        lockingAfterSnapshot lock: NSLock
    ) throws {
        let changes = Shared<[Change]>([])
        var isLocked = false
        defer { if isLocked { lock.unlock() } }
        try store.read { snapshot in
            lock.lock()
            isLocked = true
            try body(RecordingTransaction(snapshot: snapshot, changes: changes))
        }
        try store.write { for change in changes.value { try change($0) } }
    }

    private func record(_ change: @escaping Change) throws {
        changes.change { $0.append(change) }
        guard changes.value.count >= flushCount else { return }
        try flush(changes.value)
        changes.change { $0 = [] }
    }

    func lastOperationID() throws -> Int64 {
        try snapshot.operations(after: 0, in: nil, limit: .max).last?.id ?? 0
    }

    func upsert(_ items: [Item], in table: String) throws { try record { try $0.upsert(items, in: table) } }

    func deleteItems(ids: [String], in table: String) throws {
        try record { try $0.deleteItems(ids: ids, in: table) }
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        try record { _ = try $0.deleteItems(matching: query) }
        return try snapshot.items(matching: query).items.count
    }

    func put(_ operation: TableOperation) throws { try record { try $0.put(operation) } }

    func removeOperation(id: Int64) throws { try record { try $0.removeOperation(id: id) } }

    func put(_ error: TableOperationError) throws { try record { try $0.put(error) } }

    func removeOperationError(operationID: Int64) throws {
        try record { try $0.removeOperationError(operationID: operationID) }
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        try record { try $0.setConfigValue(value, for: key) }
    }
}
