// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization

/// What holds after every commit.
extension SimulatedSystem {
    /// The state of a store, as far as a check reads it.
    private struct CheckedState {
        let snapshot: any StoreSnapshot
        /// All pending operations.
        let operations: [TableOperation]
        let errors: [TableOperationError]
        /// The rows of declared tables that the check reads, and their items.
        var rows: [RowKey] = []
        var items: [RowKey: Item] = [:]

        /// - Parameter written: what was written since the last check; `nil` for everything.
        init(_ snapshot: any StoreSnapshot, _ written: WrittenKeys?, _ tables: [SyncTableDefinition]) throws {
            self.snapshot = snapshot
            operations = try snapshot.operations(after: 0, in: nil, limit: .max)
            errors = try snapshot.operationErrors(in: nil)
            for table in tables.map(\.name) {
                if written?.tables.contains(table) ?? true {
                    let items = try snapshot.items(matching: TableQuery(table)).items
                    let ids = Set(items.map(\.id) + operations.filter { $0.table == table }.map(\.itemID))
                    rows += ids.sorted().map { RowKey(table: table, id: $0) }
                    for item in items { self.items[RowKey(table: table, id: item.id)] = item }
                } else if let written {
                    for row in written.rows where row.table == table {
                        rows.append(row)
                        items[row] = try snapshot.item(id: row.id, in: table)
                    }
                }
            }
        }

        func operations(of row: RowKey) -> [TableOperation] {
            operations.filter { $0.itemID == row.id && $0.table == row.table }
        }
    }

    func checkCommit(_ snapshot: any StoreSnapshot, _ written: WrittenKeys, of device: SimulatedDevice) {
        let edits = device.history.transactionCommitted(at: server.changeCount)
        for edit in edits {
            log(
                "\(device.name) edited \(edit.key).\(edit.column ?? "deleted") = \(edit.number), saw \(edit.before ?? -1)"
            )
        }
        do {
            let tables = device.disk.store.catalog.tables
            let state = try CheckedState(snapshot, written, tables)
            if !written.rows.isEmpty || !edits.isEmpty {
                checkRunningRequests(state.operations, device)
                checkParking(state.operations, device)
                try checkPushOrder(state.operations, state.errors, snapshot, device)
                recordPending(state.operations, edits, device)
                recordCompleted(state.operations, device)
                recordConflictsOfPushes(state.operations, device)
            }
            checkFailures(state.operations, state.errors, device)
            try check(state, device)
            for observer in device.state.withLock({ $0.observers }) {
                observer.didCommit(try snapshot.items(matching: TableQuery(observer.table)).items)
            }
            if isTraced {
                let queue = state.operations.map {
                    "\($0.id) \($0.kind) \($0.itemID) \($0.state) v\($0.version ?? "-")"
                        + ($0.serverItem.map { " pulled v\($0.system.version ?? "-")" } ?? "")
                }
                log("\(device.name) commit: \(queue)")
            }
        } catch {
            fail(.store, "\(device.name): the state of a commit cannot be read: \(error)")
        }
    }

    /// Checks everything that is stored on the device.
    func checkStore(of device: SimulatedDevice) {
        do {
            let store = device.disk.store
            try store.read { try check(try CheckedState($0, nil, store.catalog.tables), device) }
        } catch {
            fail(.store, "\(device.name): the store cannot be read: \(error)")
        }
    }

    private func check(_ state: CheckedState, _ device: SimulatedDevice) throws {
        if server.traits.restartsVersions { recordSeenStates(state, device) }
        checkQueue(state, device)
        checkConflicts(state, device)
        try checkCleanItems(state, device)
        try checkLocalOnlyColumns(state.snapshot, device)
        try checkTokens(state, device)
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
                let first = state.pending[key]
                state.pending[key] = SimulatedDevice.PendingState(
                    firstID: first?.firstID ?? operation.id, firstKind: first?.firstKind ?? operation.kind,
                    kind: operation.kind.rawValue, isAttempted: operation.isAmbiguous)
            }
        }
    }

    /// Records which enqueued items have no pending insert, and which have no pending operation.
    private func recordCompleted(_ operations: [TableOperation], _ device: SimulatedDevice) {
        for key in device.state.withLock({ $0.adopted.subtracting($0.unqueued) }) {
            let pending = operations.filter { $0.table == key.table && $0.itemID == key.id }
            if pending.contains(where: { $0.kind == .insert }) { continue }
            device.history.completeInsert(key, at: server.changeCount)
            if !pending.isEmpty { continue }
            device.history.complete(key)
            device.state.withLock { _ = $0.adopted.remove(key) }
        }
    }

    /// Records which states of the server's rows the device has, and had when attempts were marked.
    private func recordSeenStates(_ checked: CheckedState, _ device: SimulatedDevice) {
        for row in checked.rows {
            let operations = checked.operations(of: row)
            let items = [checked.items[row]] + operations.flatMap { [$0.base, $0.serverItem] }
            device.state.withLock { state in
                // A state that is stored in the commit of the mark can come after it.
                let before = state.seen[row] ?? []
                state.seen[row] = before.union(items.compactMap { $0?.rowState })
                let attempt = operations.first { $0.state == .attempted }?.lastAttempt
                if let attempt, state.known[row]?.attempt != attempt {
                    state.known[row] = (attempt, before)
                }
            }
        }
    }

    /// Item and operation belong together; an item has at most two operations; an error belongs to an operation.
    private func checkQueue(_ state: CheckedState, _ device: SimulatedDevice) {
        for row in state.rows {
            let operations = state.operations(of: row)
            if operations.count > 2 { fail(.queue, "\(device.name): \(row) has more than two operations.") }
            guard let kind = operations.last?.kind, !device.state.withLock({ $0.unqueued.contains(row) })
            else {
                continue
            }
            // An item that was deleted and inserted again has no version.
            if operations.count == 1, operations[0].kind == .update, !operations[0].replaces,
                let version = operations[0].base?.system.version, let item = state.items[row],
                item.system.version == nil
            {
                fail(.atomicity, "\(device.name): \(row) has no version; its update was made on \(version).")
            }
            let exists = state.items[row] != nil
            if (kind == .delete) == exists {
                fail(
                    .atomicity,
                    "\(device.name): \(row) \(exists ? "exists" : "is missing") with a pending \(kind).")
            }
        }
        for error in state.errors where !state.operations.contains(where: { $0.id == error.operationID }) {
            fail(
                .queue,
                "\(device.name): an error belongs to operation \(error.operationID), which is not pending.")
        }
    }

    /// A device alone has no conflicts but those with its own tombstones, and a row that is gone is no conflict of its
    /// deletion.
    private func checkConflicts(_ state: CheckedState, _ device: SimulatedDevice) {
        for error in state.errors where error.isConflict {
            let key = RowKey(table: error.table, id: error.itemID)
            // The error of an update stays with the delete that replaces it, until the response to the delete is stored.
            let isStored = state.operations(of: key).first?.state != .attempted
            let isOfDeletion =
                error.kind == .delete && error.code == .itemNotOnServer && isStored
                && device.state.withLock { $0.refusals.missingAtDeletion.contains(key) }
            let isTombstone = error.serverItem?.system.deleted ?? server.hasTombstone(of: key)
            let isFalse = !isTombstone && !device.canHaveConflict(of: key, mode, server)
            guard isFalse || isOfDeletion else { continue }
            fail(.falseConflict, "\(device.name): \(error.kind) \(error.itemID): \(error.code)")
        }
        let rows = state.errors.map { RowKey(table: $0.table, id: $0.itemID) }
        device.state.withLock { $0.refusals.forgetAcceptedRows(except: Set(rows)) }
    }

    /// An item without a pending operation is a state that the server had.
    private func checkCleanItems(_ checked: CheckedState, _ device: SimulatedDevice) throws {
        defer {
            let rows = checked.operations.map { RowKey(table: $0.table, id: $0.itemID) }
            device.state.withLock { $0.rowsWithOperations = Set(rows) }
        }
        guard !device.state.withLock({ $0.hasChangedTables }) else { return }
        // An item that is removed, or changed by the app, is no longer the state that a push has left.
        for row in device.state.withLock({ Array($0.pushedStates.keys) }) {
            guard
                try checked.snapshot.item(id: row.id, in: row.table) == nil
                    || !checked.operations(of: row).isEmpty
            else { continue }
            device.state.withLock { $0.pushedStates[row] = nil }
        }
        for row in checked.rows {
            guard let item = checked.items[row], checked.operations(of: row).isEmpty else { continue }
            // A response to a write can show a row with values that cannot be read.
            let isExcepted = device.state.withLock { state in
                state.unqueued.contains(row) || state.partial.contains(row)
                    || state.checkedItems.updateValue(item, forKey: row) == item
            }
            guard !isExcepted, let table = app.tables.first(where: { $0.name == row.table }) else { continue }
            guard let state = server.lastState(of: row, where: { isShown(item, as: $0, table) }) else {
                fail(
                    .atomicity,
                    "\(device.name): \(row) \(item.fields.sorted { $0.key < $1.key }) version "
                        + "\(item.system.version ?? "-") has no pending operation, and is no state of the server's row."
                )
                continue
            }
            checkOrder(of: state, row, device)
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
    private func checkTokens(_ state: CheckedState, _ device: SimulatedDevice) throws {
        let traits = server.traits
        guard !traits.hasUnsteadyClock, !device.state.withLock({ $0.needsWholePull }) else { return }
        for table in device.disk.store.catalog.tables {
            let key = ConfigKey(table: table.name, kind: .deltaToken, name: "all")
            guard let text = try state.snapshot.configValue(key),
                device.state.withLock({ $0.tokens.updateValue(text, forKey: key) }) != text,
                case .object(let token)? = ModelJSON(data: .init(text.utf8)),
                let position = token["updatedAt"]?.text.flatMap(ModelTime.init)
            else { continue }
            for row in server.rows(of: table.name).values {
                guard row.updatedAt.shown(digits: traits.shownDigits).nanoseconds < position.nanoseconds,
                    !row.isUndated, !isUnreadable(row, table),
                    state.operations(of: RowKey(table: table.name, id: row.id)).isEmpty,
                    // The app has changed it without the context.
                    device.state.withLock({
                        !$0.unqueued.contains(RowKey(table: table.name, id: row.id))
                    })
                else { continue }
                let item = try state.snapshot.item(id: row.id, in: table.name)
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
