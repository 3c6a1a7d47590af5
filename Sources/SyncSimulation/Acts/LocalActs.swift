// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// The app's changes.
extension SimulatedSystem {
    /// Changes one item in a batch. Its history is recorded with the transaction.
    func edit(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        let table = table(act, device)
        let key = RowKey(table: table.name, id: act.id)
        let (columns, counter) = (app.editedColumns(of: table), app.counter(seed: seed))
        var copy: Item?
        if act.feature == .replaceCopy {
            // The first time, the user opens the item; the next time, they store what they have edited meanwhile.
            copy = device.state.withLock { $0.copies.removeValue(forKey: key) }
            if copy == nil {
                let item = try await context.table(table.name).item(id: act.id)
                // A copy of an item that the server has not returned yet names no version that could be older.
                guard item?.system.version != nil else { return }
                return device.state.withLock { $0.copies[key] = item }
            }
        }
        let opened = copy
        let change = try await context.batch { local -> String? in
            // The app edits no item that it is about to enqueue.
            let isUnqueued = device.state.withLock { $0.unqueued.contains(key) }
            if isUnqueued, try local.item(id: key.id, in: key.table)?.system.version == nil { return nil }
            // If the app removes a value that the server then computes again, the device cannot tell it from another client's
            // change.
            let write = LocalEdit(
                local: local, key: key, columns: columns,
                localOnlyColumn: table.columns.first { $0.isLocalOnly && $0.type == .text }?.name,
                parentColumn: self.app.parentColumn(of: table),
                clearedColumn: self.mode == .solo ? nil : self.app.computedColumn,
                countedColumn: counter.flatMap { $0.table == table.name ? $0.column : nil },
                history: device.history)
            let edits = try write.perform(act, copy: opened)
            device.history.stage(edits)
            return edits.isEmpty
                ? nil
                : edits.contains { $0.column == nil }
                    ? "delete" : act.feature == .insert ? "insert" : "update"
        }
        if let change { countCollapse(change, of: key, device) }
    }

    /// Counts which pending operation the change met, as the commit before it showed.
    private func countCollapse(_ change: String, of key: RowKey, _ device: SimulatedDevice) {
        guard let row = device.state.withLock({ $0.collapsed.removeValue(forKey: key) }) else { return }
        count(.collapse(CollapseRow(pending: row.kind, isAttempted: row.isAttempted, change: change)))
    }

    // MARK: The app's own database code

    /// Changes a row without the context, and queues the change.
    func enqueue(_ act: Act, _ device: SimulatedDevice, _ context: SyncContext) async throws {
        let table = table(act, device)
        let key = RowKey(table: table.name, id: act.id)
        guard device.state.withLock({ !$0.unqueued.contains(key) }) else {
            return await enqueueUnqueued(on: device, context)
        }
        let columns = app.editedColumns(of: table)
        let item = try device.disk.store.read { try $0.item(id: key.id, in: key.table) }
        switch act.feature {
        case .enqueueExisting:
            guard try item == nil && !hasOperations(key, device) else { return }
            try change(key, to: Item(id: key.id), columns, device, isAdopted: true)
            try await context.enqueueExisting(TableQuery(table.name))
            markQueued(key, device)
        case .enqueueChange:
            guard let item else { return }
            try change(key, to: item, columns, device)
            try await context.enqueueExternalChanges(in: table.name, changed: [key.id])
            markQueued(key, device)
        default:
            guard let item else { return }
            let hasOperation = try hasOperations(key, device)
            let deletion = Edit(
                number: device.history.nextNumber(), key: key, column: nil,
                hadVersion: item.system.version != nil, deleted: History.numbers(in: item),
                madeAt: server.changeCount)
            markUnqueued(key, device, [deletion])
            try writeDirectly(to: device) { try $0.deleteItems(ids: [key.id], in: key.table) }
            device.history.forgetLocalOnlyEdits { $0 == key }
            device.state.withLock { state in
                state.deletedRows[key] = item
                state.deletedDirectly.insert(key)
                if item.system.version == nil || hasOperation { state.deletedLate.insert(key) }
            }
            try await context.enqueueExternalChanges(in: table.name, deleted: [item])
            markQueued(key, device)
        }
    }

    private func change(
        _ key: RowKey, to item: Item, _ columns: [SyncColumn], _ device: SimulatedDevice,
        isAdopted: Bool = false
    ) throws {
        var item = item
        let edits = columns.map { column in
            Edit(
                number: device.history.nextNumber(), key: key, column: column.name,
                before: EditValue.number(item.fields[column.name]), isAdopted: isAdopted)
        }
        for (column, edit) in zip(columns, edits) {
            item.fields[column.name] = EditValue.item(edit.number, column.type)
        }
        markUnqueued(key, device, edits)
        device.state.withLock { _ = $0.rowsOfUnknownBase.insert(key) }
        if isAdopted { device.state.withLock { _ = $0.adopted.insert(key) } }
        let changed = item
        try writeDirectly(to: device) { try $0.upsert([changed], in: key.table) }
    }

    private func hasOperations(_ key: RowKey, _ device: SimulatedDevice) throws -> Bool {
        try device.disk.store.read { try !$0.operations(forItem: key.id, in: key.table).isEmpty }
    }

    /// Writes as the app's own database code does.
    private func writeDirectly(
        to device: SimulatedDevice, _ body: (any StoreTransaction) throws -> Void
    ) throws {
        try device.disk.store.write(body)
        for observer in device.state.withLock({ $0.observers }) {
            let query = TableQuery(observer.table)
            observer.didCommit(try device.disk.store.read { try $0.items(matching: query).items })
        }
    }

    private func markUnqueued(_ key: RowKey, _ device: SimulatedDevice, _ edits: [Edit]) {
        log("\(device.name) changes \(key) in its database: \(edits.map(\.number))")
        device.state.withLock { _ = $0.unqueued.insert(key) }
        device.history.record(edits)
    }

    /// Records that the changes of a row are queued, as far as a pull has not replaced them before.
    private func markQueued(_ key: RowKey, _ device: SimulatedDevice) {
        let item = try? device.disk.store.read { try $0.item(id: key.id, in: key.table) }
        device.history.overrule(where: { edit in
            guard edit.key == key else { return false }
            return edit.column.map { EditValue.number(item?.fields[$0]) != edit.number } ?? (item != nil)
        })
        device.state.withLock { state in
            state.unqueued.remove(key)
            state.deletedRows[key] = nil
        }
    }

    /// Queues changes of the app's database whose queueing failed, as an app does at its next start.
    func enqueueUnqueued(on device: SimulatedDevice, _ context: SyncContext) async {
        for key in device.state.withLock({ $0.unqueued.sorted { $0.description < $1.description } }) {
            do {
                if let deleted = device.state.withLock({ $0.deletedRows[key] }) {
                    device.state.withLock { _ = $0.deletedLate.insert(key) }
                    try await context.enqueueExternalChanges(in: key.table, deleted: [deleted])
                } else {
                    try await context.enqueueExternalChanges(in: key.table, changed: [key.id])
                }
                markQueued(key, device)
            } catch let error as SyncError where [.itemNotFound, .invalidOperation].contains(error.code) {
                // A discarded delete brings the item back with the app's change, which is still to be queued then.
                if error.code == .itemNotFound, (try? hasOperations(key, device)) == true { continue }
                // A pull has replaced the app's change before it was queued.
                device.history.overrule(where: { $0.key == key })
                device.state.withLock { state in
                    state.unqueued.remove(key)
                    state.deletedRows[key] = nil
                }
            } catch {
                log("\(device.name): \(key) cannot be queued: \(error)")
            }
        }
    }
}

/// One edit inside a batch.
struct LocalEdit {
    let local: LocalBatch
    let key: RowKey
    let columns: [SyncColumn]
    /// A column that is edited beside others, and is not sent.
    let localOnlyColumn: String?
    let parentColumn: String?
    /// The column of the server that a whole item lacks; `nil` if it has the server's columns as they were read.
    let clearedColumn: String?
    /// The column in which a user counts; `nil` for none.
    let countedColumn: String?
    let history: History

    /// Changes the item, and returns what was changed.
    func perform(_ act: Act, copy: Item?) throws -> [Edit] {
        let item = try local.item(id: key.id, in: key.table)
        var random = act.random
        switch act.feature {
        case .insert: return try insert(isComplete: !random.percent(20))
        case .update:
            if let countedColumn, random.percent(75) {
                try count(in: countedColumn, item)
                return []
            }
            var edits = [edit(random.pick(columns), item)]
            var fields: [String: ItemValue] = [:]
            if random.percent(15), let localOnlyColumn {
                let number = history.nextNumber()
                fields[localOnlyColumn] = EditValue.item(number, .text)
                stageLocalOnlyEdit(number)
                if random.percent(30) { edits = [] }
            }
            fields.merge(values(edits)) { _, new in new }
            try local.update(id: key.id, fields, in: key.table)
            return edits
        case .replace, .replaceCopy:
            guard var replaced = copy ?? item else { return [] }
            let edits = columns.map { edit($0, replaced) }
            replaced.fields.merge(values(edits)) { _, new in new }
            if let clearedColumn { replaced.fields[clearedColumn] = nil }
            try local.replace(replaced, in: key.table)
            stageLocalOnlyEdit(localOnlyColumn.flatMap { EditValue.number(replaced.fields[$0]) })
            return edits
        case .delete: return try delete(item)
        default:
            guard item == nil else { return try delete(item) + insert(isComplete: !random.percent(50)) }
            let inserted = try insert(isComplete: true)
            let edits = [edit(random.pick(columns), try local.item(id: key.id, in: key.table))]
            try local.update(id: key.id, values(edits), in: key.table)
            return inserted + edits
        }
    }

    private func count(in column: String, _ item: Item?) throws {
        let number = EditValue.number(item?.fields[column]) ?? 0
        try local.update(id: key.id, [column: .int(number + 1)], in: key.table)
        history.stage(countIn: key)
    }

    private func edit(_ column: SyncColumn, _ item: Item?) -> Edit {
        Edit(
            number: history.nextNumber(), key: key, column: column.name,
            before: EditValue.number(item?.fields[column.name]))
    }

    private func values(_ edits: [Edit]) -> [String: ItemValue] {
        var values: [String: ItemValue] = [:]
        for edit in edits {
            guard let column = columns.first(where: { $0.name == edit.column }) else { continue }
            values[column.name] = EditValue.item(edit.number, column.type)
        }
        return values
    }

    /// - Parameter isComplete: whether the item has all columns, or lacks the last one.
    private func insert(isComplete: Bool) throws -> [Edit] {
        var edits: [Edit] = []
        if !isComplete, columns.count > 1, let last = columns.last { edits.append(edit(last, nil)) }
        let inserted = columns.prefix(columns.count - edits.count).map { edit($0, nil) }
        if let first = inserted.first, let column = first.column, !edits.isEmpty {
            edits[0].companion = Edit.Companion(column: column, number: first.number)
        }
        var fields = values(inserted)
        edits += inserted
        fields["id"] = .text(key.id)
        if let parentColumn { fields[parentColumn] = .text(key.id) }
        if let countedColumn { fields[countedColumn] = 1 }
        try local.insert(fields, in: key.table)
        if countedColumn != nil { history.stage(countIn: key) }
        // A purge before the insert can be in the same commit.
        stageLocalOnlyEdit(nil)
        return edits
    }

    /// - Parameter number: the value of the column that exists on the device only; `nil` for none.
    private func stageLocalOnlyEdit(_ number: Int64?) {
        guard let localOnlyColumn else { return }
        history.stage(LocalOnlyEdit(key: key, column: localOnlyColumn, number: number))
    }

    private func delete(_ item: Item?) throws -> [Edit] {
        try local.delete(id: key.id, in: key.table)
        stageLocalOnlyEdit(nil)
        return [
            Edit(
                number: history.nextNumber(), key: key, column: nil, hadVersion: item?.system.version != nil,
                deleted: item.map(History.numbers(in:)) ?? [])
        ]
    }
}
