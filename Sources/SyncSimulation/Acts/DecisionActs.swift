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
        try await decide(act.feature, random.pick(errors), device, context)
    }

    /// Applies a decision, and records what it saw and replaced.
    func decide(
        _ decision: Act.Feature, _ error: TableOperationError, _ device: SimulatedDevice,
        _ context: SyncContext
    ) async throws {
        // Cancelling the operation of a table that is not declared leaves its item as it is.
        guard error.code != .unknownTable else { return }
        let key = RowKey(table: error.table, id: error.itemID)
        let history = device.history
        let newest =
            error.kind == .delete ? history.lastNumber : error.item.map(History.newestNumber(in:)) ?? 0
        let shown = error.serverItem
        log("\(device.name) decides \(decision) about \(error.operationID) \(key): \(error.code)")
        switch decision {
        case .keepServer where shown?.system.deleted == false:
            try await context.cancelAndUpdateItem(for: error, with: shown ?? Item(id: error.itemID))
            history.overrule(key, upTo: newest)
        case .discard, .keepServer:
            try await context.cancelAndDiscardItem(for: error)
            history.overrule(key, upTo: newest)
        case .keepClient where error.kind != .delete:
            try await keepClient(error, key, device, context)
        case .keepClient:
            history.see(key, shown)
            try await context.changeKind(for: error, to: .delete)
        case .changeKind:
            history.see(key, shown)
            if error.kind == .delete {
                try await context.changeKind(for: error, to: .update, with: error.item)
                history.overrule(where: { $0.key == key && $0.column == nil && $0.number <= newest })
            } else if shown == nil, error.code == .itemNotOnServer {
                try await context.changeKind(for: error, to: .insert)
            } else {
                try await context.changeKind(for: error, to: .delete)
                history.overrule(key, upTo: newest)
            }
        default: try await context.replay(operationID: error.operationID)
        }
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
        try await context.keepAndUpdateItem(for: error, with: item)
        device.history.record([edit])
    }
}
