// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// What holds after every commit.
extension SimulatedSystem {
    func checkCommit(_ snapshot: any StoreSnapshot, of device: SimulatedDevice) {
        let edits = device.history.transactionCommitted()
        for edit in edits {
            log(
                "\(device.name) edited \(edit.key).\(edit.column ?? "deleted") = \(edit.number), saw \(edit.before ?? -1)"
            )
        }
        do {
            let operations = try snapshot.operations(after: 0, in: nil, limit: .max)
            checkParking(operations, device)
            try checkParents(operations, snapshot, device)
            recordPending(operations, edits, device)
            recordCompleted(operations, device)
            if server.traits.restartsVersions { try recordSeenStates(operations, snapshot, device) }
            try checkQueue(operations, snapshot, device)
            try checkCleanItems(operations, snapshot, device)
            try checkTokens(operations, snapshot, device)
            for observer in device.state.withLock({ $0.observers }) {
                observer.didCommit(try snapshot.items(matching: TableQuery(observer.table)).items)
            }
            if isTraced {
                let queue = operations.map {
                    "\($0.id) \($0.kind) \($0.itemID) \($0.state) v\($0.version ?? "-")"
                }
                log("\(device.name) commit: \(queue)")
            }
        } catch {
            fail(.store, "\(device.name): the state of a commit cannot be read: \(error)")
        }
    }

    /// Records the pending operations, and which of them the edits met.
    private func recordPending(_ operations: [TableOperation], _ edits: [Edit], _ device: SimulatedDevice) {
        device.state.withLock { state in
            for operation in operations where !state.operations.contains(operation.id) {
                if operation.id <= state.lastOperation {
                    fail(.queue, "\(device.name): the operation id \(operation.id) was used before.")
                }
                state.operations.insert(operation.id)
            }
            state.lastOperation = max(state.lastOperation, operations.last?.id ?? 0)
            for edit in edits { state.collapsed[edit.key] = state.pending[edit.key] }
            state.pending = [:]
            for operation in operations {
                let key = RowKey(table: operation.table, id: operation.itemID)
                state.pending[key] = SimulatedDevice.PendingState(
                    kind: operation.kind.rawValue, isAttempted: operation.isAmbiguous)
            }
        }
    }

    /// Records which enqueued items have no pending operation.
    private func recordCompleted(_ operations: [TableOperation], _ device: SimulatedDevice) {
        let keys = device.state.withLock { state in
            state.adopted.filter { key in
                !state.unqueued.contains(key)
                    && !operations.contains { $0.table == key.table && $0.itemID == key.id }
            }
        }
        for key in keys { device.history.complete(key) }
        device.state.withLock { $0.adopted.subtract(keys) }
    }

    /// Records which states of the server's rows the device has, and had when attempts were marked.
    private func recordSeenStates(
        _ operations: [TableOperation], _ snapshot: any StoreSnapshot, _ device: SimulatedDevice
    ) throws {
        var items: [(RowKey, Item)] = []
        for table in device.disk.store.catalog.tables {
            for item in try snapshot.items(matching: TableQuery(table.name)).items {
                items.append((RowKey(table: table.name, id: item.id), item))
            }
        }
        for operation in operations {
            let key = RowKey(table: operation.table, id: operation.itemID)
            items += [operation.base, operation.serverItem].compactMap { $0.map { (key, $0) } }
        }
        let seen = items.compactMap { key, item in item.rowState.map { (key, $0) } }
        device.state.withLock { state in
            for (key, shown) in seen { state.seen[key, default: []].insert(shown) }
            for operation in operations where operation.state == .attempted {
                let key = RowKey(table: operation.table, id: operation.itemID)
                state.known[key] = state.seen[key]
            }
        }
    }

    /// Item and operation belong together; an item has at most two operations; an error belongs to an operation.
    private func checkQueue(
        _ operations: [TableOperation], _ snapshot: any StoreSnapshot, _ device: SimulatedDevice
    ) throws {
        let declared = Set(device.disk.store.catalog.tables.map(\.name))
        var counts: [RowKey: Int] = [:]
        for operation in operations.reversed() where declared.contains(operation.table) {
            let key = RowKey(table: operation.table, id: operation.itemID)
            counts[key, default: 0] += 1
            if counts[key] == 3 { fail(.queue, "\(device.name): \(key) has more than two operations.") }
            guard counts[key] == 1, !device.state.withLock({ $0.unqueued.contains(key) }) else { continue }
            let exists = try snapshot.item(id: operation.itemID, in: operation.table) != nil
            if (operation.kind == .delete) == exists {
                fail(
                    .atomicity,
                    "\(device.name): \(key) \(exists ? "exists" : "is missing") with a pending \(operation.kind)."
                )
            }
        }
        for error in try snapshot.operationErrors(in: nil)
        where !operations.contains(where: { $0.id == error.operationID }) {
            fail(
                .queue,
                "\(device.name): an error belongs to operation \(error.operationID), which is not pending.")
        }
        try checkConflicts(snapshot, device)
    }

    /// A device alone has no conflicts but those with its own tombstones, and a row that is gone is no conflict of its
    /// deletion.
    private func checkConflicts(_ snapshot: any StoreSnapshot, _ device: SimulatedDevice) throws {
        for error in try snapshot.operationErrors(in: nil) where error.isConflict {
            let key = RowKey(table: error.table, id: error.itemID)
            let isOfDeletion =
                error.kind == .delete && error.code == .itemNotOnServer
                && device.state.withLock { $0.refusals.missingAtDeletion.contains(key) }
            let isSolo = mode == .solo && error.serverItem?.system.deleted != true
            guard isSolo || isOfDeletion else { continue }
            fail(.falseConflict, "\(device.name): \(error.kind) \(error.itemID): \(error.code)")
        }
    }

    /// An item without a pending operation is a state that the server had.
    private func checkCleanItems(
        _ operations: [TableOperation], _ snapshot: any StoreSnapshot, _ device: SimulatedDevice
    ) throws {
        guard !device.state.withLock({ $0.hasChangedTables }) else { return }
        let pending = Set(operations.map { RowKey(table: $0.table, id: $0.itemID) })
        let unqueued = device.state.withLock { $0.unqueued }
        for table in device.disk.store.catalog.tables {
            for item in try snapshot.items(matching: TableQuery(table.name)).items {
                let key = RowKey(table: table.name, id: item.id)
                guard !pending.contains(key), !unqueued.contains(key) else { continue }
                // A response to a write can show a row with values that cannot be read.
                if device.state.withLock({ $0.partial.contains(key) || $0.checkedItems[key] == item }) {
                    continue
                }
                let isKnown = server.journal.contains { mutation in
                    mutation.id == item.id && mutation.table == table.name
                        && mutation.after.map { isShown(item, as: $0, table) } == true
                }
                if !isKnown {
                    fail(
                        .atomicity,
                        "\(device.name): \(key) \(item.fields) version \(item.system.version ?? "-") has no pending "
                            + "operation, and is no state of the server's row.")
                }
                device.state.withLock { $0.checkedItems[key] = item }
            }
        }
    }

    /// Whether the item has the version and the synced fields of the row.
    func isShown(_ item: Item, as row: ModelServer.Row, _ table: SyncTableDefinition) -> Bool {
        item.system.version == String(row.version) && !isUnreadable(row, table)
            && table.columns.allSatisfy { column in
                column.isLocalOnly
                    || EditValue.number(item.fields[column.name])
                        == EditValue.number(row.fields[column.name], column.type)
            }
    }

    /// Every row before a delta token is here, has a pending operation, or was removed by the app.
    private func checkTokens(
        _ operations: [TableOperation], _ snapshot: any StoreSnapshot, _ device: SimulatedDevice
    ) throws {
        let traits = server.traits
        guard !traits.hasUnsteadyClock, !device.state.withLock({ $0.lacksPurgedRows }) else { return }
        for table in device.disk.store.catalog.tables {
            let key = ConfigKey(table: table.name, kind: .deltaToken, name: "all")
            guard let text = try snapshot.configValue(key),
                device.state.withLock({ $0.tokens.updateValue(text, forKey: key) }) != text,
                case .object(let token)? = ModelJSON(data: .init(text.utf8)),
                let position = token["updatedAt"]?.text.flatMap(ModelTime.init)
            else { continue }
            for row in server.rows(of: table.name).values {
                guard let shown = ModelTime(row.updatedAt.text(digits: traits.shownDigits)),
                    shown.nanoseconds < position.nanoseconds, !row.isUndated, !isUnreadable(row, table),
                    !operations.contains(where: { $0.itemID == row.id && $0.table == table.name })
                else { continue }
                let item = try snapshot.item(id: row.id, in: table.name)
                let isHere = row.isDeleted ? item == nil : item?.system.version == String(row.version)
                if !isHere {
                    fail(
                        .token,
                        "\(device.name): the token of \(table.name) is at \(position.text(digits: 7)), and row \(row.id) "
                            + "version \(row.version), changed before, is not stored.")
                }
            }
        }
    }
}

extension Item {
    /// What identifies the state of the server's row; `nil` without one.
    fileprivate var rowState: ModelServer.RowState? {
        guard let version = system.version else { return nil }
        let updatedAt = system.updatedAt.map { $0.seconds * 1_000_000_000 + Int64($0.nanoseconds) }
        return ModelServer.RowState(version: version, updatedAt: updatedAt ?? 0)
    }
}
