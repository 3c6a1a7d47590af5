// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

/// A transaction that records its changes for later, and does not see them.
struct RecordingTransaction: StoreTransaction, ForwardingSnapshot {
    typealias Change = @Sendable (any StoreTransaction) throws -> Void

    let snapshot: any StoreSnapshot
    let changes: Shared<[Change]>

    /// Runs the body on a snapshot of the store, concurrently with others.
    ///
    /// - Returns: the recorded changes.
    static func changes(
        of body: StoreFlaw.Run<any StoreTransaction>, on store: any SyncContextDataSource
    ) throws -> [Change] {
        let changes = Shared<[Change]>([])
        try store.read { try body(RecordingTransaction(snapshot: $0, changes: changes)) }
        return changes.value
    }

    private func record(_ change: @escaping Change) { changes.change { $0.append(change) } }

    func lastOperationID() throws -> Int64 {
        try snapshot.operations(after: 0, in: nil, limit: .max).last?.id ?? 0
    }

    func upsert(_ items: [Item], in table: String) { record { try $0.upsert(items, in: table) } }

    func deleteItems(ids: [String], in table: String) { record { try $0.deleteItems(ids: ids, in: table) } }

    func deleteItems(matching query: TableQuery) throws -> Int {
        record { _ = try $0.deleteItems(matching: query) }
        return try snapshot.items(matching: query).items.count
    }

    func put(_ operation: TableOperation) { record { try $0.put(operation) } }

    func removeOperation(id: Int64) { record { try $0.removeOperation(id: id) } }

    func put(_ error: TableOperationError) { record { try $0.put(error) } }

    func removeOperationError(operationID: Int64) {
        record { try $0.removeOperationError(operationID: operationID) }
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) {
        record { try $0.setConfigValue(value, for: key) }
    }
}
