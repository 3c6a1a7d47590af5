// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

/// A transaction that only notes its changes, for mutants that make them some other time. It does not see them.
struct RecordingTransaction: StoreTransaction, ForwardingSnapshot {
    typealias Change = @Sendable (any StoreTransaction) throws -> Void

    let snapshot: any StoreSnapshot
    let changes: Shared<[Change]>

    /// Runs the body on a snapshot of the store, beside any others.
    ///
    /// - Returns: the changes it would make.
    static func changes(
        of body: StoreFlaw.Run<any StoreTransaction>, on store: any SyncContextDataSource
    ) throws -> [Change] {
        let changes = Shared<[Change]>([])
        try store.read { try body(RecordingTransaction(snapshot: $0, changes: changes)) }
        return changes.value
    }

    private func note(_ change: @escaping Change) { changes.change { $0.append(change) } }

    func lastOperationID() throws -> Int64 {
        try snapshot.operations(after: 0, in: nil, limit: .max).last?.id ?? 0
    }

    func upsert(_ items: [Item], in table: String) { note { try $0.upsert(items, in: table) } }

    func deleteItems(ids: [String], in table: String) { note { try $0.deleteItems(ids: ids, in: table) } }

    func deleteItems(matching query: TableQuery) throws -> Int {
        note { _ = try $0.deleteItems(matching: query) }
        return try snapshot.items(matching: query).items.count
    }

    func put(_ operation: TableOperation) { note { try $0.put(operation) } }

    func removeOperation(id: Int64) { note { try $0.removeOperation(id: id) } }

    func put(_ error: TableOperationError) { note { try $0.put(error) } }

    func removeOperationError(operationID: Int64) {
        note { try $0.removeOperationError(operationID: operationID) }
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) {
        note { try $0.setConfigValue(value, for: key) }
    }
}
