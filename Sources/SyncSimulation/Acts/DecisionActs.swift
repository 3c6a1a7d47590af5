// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The user's decisions about failed operations.
extension SimulatedSystem {
    func decide(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        var random = act.random
        let errors = try await context.operationErrors()
        guard !errors.isEmpty else { return }
        let error = random.pick(errors)
        let newest = newestNumber(shownBy: error, device)
        // The user reads the error for a while.
        await wait(steps: random.below(16))
        if random.percent(30) { try? await scheduler.sleep(random.logUniform(below: 4_000_000_000)) }
        try await decide(act.feature, error, upTo: newest, device, context)
    }

    /// Returns the number of the newest edit that the user knows to be replaced by a decision about the error.
    func newestNumber(shownBy error: TableOperationError, _ device: SimulatedDevice) -> Int64 {
        guard error.kind != .delete else { return device.history.lastNumber }
        let table = device.disk.store.catalog.tables.first { $0.name == error.table }
        // A decision is about the whole item, also about columns that are not declared now.
        let hidden = device.history.snapshot.edits.filter { edit in
            edit.key == RowKey(table: error.table, id: error.itemID)
                && edit.column.map { table?.column(named: $0) == nil } ?? false
        }
        return (hidden.map(\.number) + [error.item.map(History.newestNumber(in:)) ?? 0]).max() ?? 0
    }

    /// Applies a decision, and records what it saw and replaced.
    func decide(
        _ decision: Act.Feature, _ error: TableOperationError, upTo newest: Int64,
        _ device: SimulatedDevice, _ context: SyncContext
    ) async throws {
        if error.code == .unknownTable {
            return try await discardUndeclared(error, decision, device, context)
        }
        let key = RowKey(table: error.table, id: error.itemID)
        let history = device.history
        let shown = error.serverItem
        // The item of an insert behind a delete is not replaced by that of a decision.
        let hasItem = [.keepServer, .changeKind].contains(decision) && error.kind == .delete
        let decision = try hasItem && hasNewerChange(error, device) ? Act.Feature.discard : decision
        log("\(device.name) decides \(decision) about \(error.operationID) \(key): \(error.code)")
        switch decision {
        case .keepServer where shown?.system.deleted == false:
            try await apply(error, upTo: newest, device) {
                try await context.cancelAndUpdateItem(for: error, with: shown ?? Item(id: error.itemID))
            } record: {
                history.see(key, shown)
                history.overrule(key, upTo: newest)
            }
        case .discard, .keepServer:
            try await apply(error, upTo: newest, device) {
                try await context.cancelAndDiscardItem(for: error)
            } record: {
                // An item whose row is unknown is removed, and pulled again.
                if shown == nil { device.state.withLock { $0.removalCount += 1 } }
                history.see(key, shown)
                history.overrule(key, upTo: newest)
            }
        case .keepClient where error.kind != .delete:
            try await keepClient(error, key, device, context)
        case .keepClient:
            history.see(key, shown)
            try await context.changeKind(for: error, to: .delete)
        case .changeKind:
            history.see(key, shown)
            try await changeKind(of: error, key, upTo: newest, device, context)
        default: try await context.replay(operationID: error.operationID)
        }
    }

    private func hasNewerChange(_ error: TableOperationError, _ device: SimulatedDevice) throws -> Bool {
        try device.disk.store.read { try $0.operations(forItem: error.itemID, in: error.table).count > 1 }
    }

    /// Discards the operations of an item whose table is not declared: the item stays as it is, until it is pulled again.
    private func discardUndeclared(
        _ error: TableOperationError, _ decision: Act.Feature, _ device: SimulatedDevice,
        _ context: SyncContext
    ) async throws {
        guard decision == .discard else { return }
        let key = RowKey(table: error.table, id: error.itemID)
        try await apply(error, upTo: .max, device) {
            try await context.cancelAndDiscardItem(for: error)
        } record: {
            device.history.overrule(key, upTo: .max)
        }
    }

    private func changeKind(
        of error: TableOperationError, _ key: RowKey, upTo newest: Int64, _ device: SimulatedDevice,
        _ context: SyncContext
    ) async throws {
        let history = device.history
        if error.kind == .delete {
            try await apply(error, upTo: newest, device, becoming: .update) {
                try await context.changeKind(for: error, to: .update, with: error.item)
            } record: {
                history.overrule(where: { $0.key == key && $0.column == nil && $0.number <= newest })
            }
        } else if error.serverItem == nil, error.code == .itemNotOnServer {
            try await context.changeKind(for: error, to: .insert)
        } else {
            let deletion = Edit(
                number: history.nextNumber(), key: key, column: nil, hadVersion: error.serverItem != nil,
                madeAt: server.changeCount)
            try await apply(error, upTo: newest, device, becoming: .delete) {
                try await context.changeKind(for: error, to: .delete)
            } record: {
                history.overrule(key, upTo: newest)
                history.record([deletion])
            }
        }
    }

    /// Applies a decision and records its effect. A process can crash between the commit and the end of the call, the commit
    /// may not be confirmed, and another act can have changed the item before.
    ///
    /// - Parameter kind: the kind that the decision gives the operation; `nil` when it removes it.
    private func apply(
        _ error: TableOperationError, upTo newest: Int64, _ device: SimulatedDevice,
        becoming kind: TableOperation.Kind? = nil, _ call: () async throws -> Void, record: () -> Void
    ) async throws {
        let before = try device.disk.store.read { try $0.operation(id: error.operationID) }
        do { try await call() } catch let failure as SyncError where failure.leavesOutcomeOpen {
            let isDeclared = device.disk.store.catalog.contains(error.table)
            let (operation, item) = try device.disk.store.read { snapshot in
                (
                    try snapshot.operation(id: error.operationID),
                    isDeclared ? try snapshot.item(id: error.itemID, in: error.table) : nil
                )
            }
            let edits = device.history.snapshot.edits.filter {
                $0.key.id == error.itemID && $0.key.table == error.table
            }
            let isEdited = edits.contains { $0.number > newest && !$0.isOverruled }
            // A deletion can cancel out an insert whose row no one has shown, and show the server's row of its id; another
            // decision can have removed the operation. A push removes it with the item as it is if nothing is left to send.
            let showsRow = item?.system.version != nil && error.serverItem == nil
            let isRemoved =
                operation == nil && edits.contains { !$0.isOverruled }
                && (kind != .delete || showsRow || item == nil)
            let isApplied = operation?.kind == kind && operation != before
            // A later edit is of another operation, and can share the commit with the decision.
            if isApplied || isRemoved, !isEdited || operation == nil { record() }
            throw failure
        }
        record()
    }

    /// Keeps the item with a further edit.
    private func keepClient(
        _ error: TableOperationError, _ key: RowKey, _ device: SimulatedDevice, _ context: SyncContext
    ) async throws {
        guard let table = device.disk.store.catalog.tables.first(where: { $0.name == error.table }),
            let column = app.editedColumns(of: table).first
        else { return }
        var item = error.item ?? Item(id: error.itemID)
        let edit = Edit(
            number: device.history.nextNumber(), key: key, column: column.name,
            before: EditValue.number(item.fields[column.name]))
        item.fields[column.name] = EditValue.item(edit.number, column.type)
        device.history.see(key, error.serverItem)
        let kept = item
        do { try await context.keepAndUpdateItem(for: error, with: kept) } catch let failure as SyncError
            where failure.leavesOutcomeOpen
        {
            let stored = try? device.disk.store.read { try $0.item(id: key.id, in: key.table) }
            if stored?.fields[column.name] == kept.fields[column.name] { device.history.record([edit]) }
            throw failure
        }
        device.history.record([edit])
    }
}
