// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// What devices have changed on the server.
extension SimulatedSystem {
    /// The last change of a column.
    private struct Writer {
        /// The device, or the other user's name.
        let name: String
        /// The index of the change in the journal.
        let index: Int
    }

    /// No write overwrites or deletes what its author has not seen, or repeats an edit, and every write is conditional.
    func checkWrites(of device: SimulatedDevice) {
        let history = device.history.snapshot
        var writers: [String: Writer] = [:]
        // A server whose versions restart accepts a condition for a row that the device has never seen. Its answer then
        // gives the device the newest version.
        var unseen: Set<RowKey> = []
        // An old page takes the device back to a row that was inserted again since.
        let (unknownBases, hasOldPage) = device.state.withLock {
            ($0.rowsOfUnknownBase, $0.hasReceivedOldPage)
        }
        // The newest edit of the device that the server has had, by row.
        var applied: [RowKey: Int64] = [:]
        for (index, change) in server.journal.enumerated() {
            let isOwn = change.author == device.name
            if isOwn, !change.isConditional {
                fail(.condition, "\(device.name): the \(change.kind) of \(change.id) names no version.")
            }
            let row = RowKey(table: change.table, id: change.id)
            let hasUnknownBase =
                server.traits.restartsVersions && (hasOldPage || unknownBases.contains(row))
            if isOwn, !change.wasKnown || hasUnknownBase { unseen.insert(row) }
            var newest = applied[row] ?? 0
            defer { applied[row] = newest }
            if isOwn, !unseen.contains(row) { checkUndeclaredColumn(change, history, device) }
            for column in app.tables.first(where: { $0.name == change.table }).map(app.editedColumns) ?? [] {
                let key = "\(change.table)/\(change.id).\(column.name)"
                let old = value(of: column.name, in: change.before, change.table)
                if isOwn, change.kind == .delete, !unseen.contains(row), let old,
                    let writer = writers[key], writer.name != device.name
                {
                    checkDeletion(of: old, column.name, row, history, device, writer)
                }
                // The values of a deleted row are no change that its writer waits for.
                if change.kind == .delete { writers[key] = Writer(name: device.name, index: index) }
                let new = value(of: column.name, in: change.after, change.table)
                if isOwn, !unseen.contains(row) { checkLoss(of: column, change, history, device) }
                guard old != new, change.after != nil else { continue }
                if isOwn, change.kind == .update, !unseen.contains(row), let old, let new {
                    checkReplacement(
                        of: old, by: new, column.name, change, history, device, writers[key],
                        after: applied[row] ?? 0)
                }
                if isOwn, let new, new % History.deviceCount == Int64(device.number) + 1 {
                    newest = max(newest, new)
                }
                writers[key] = Writer(name: change.author, index: index)
            }
        }
    }

    private func checkReplacement(
        of old: Int64, by new: Int64, _ column: String, _ change: ModelServer.Mutation,
        _ history: History.State,
        _ device: SimulatedDevice, _ writer: Writer?, after applied: Int64
    ) {
        let key = RowKey(table: change.table, id: change.id)
        let edits = history.edits.filter { $0.key == key }
        guard !history.decisions.contains(where: { $0.key == key && $0.seen[column] == old }),
            column != "a" || !device.state.withLock({ $0.rowsEditedByDelegate.contains(key) })
        else { return }
        guard let edit = edits.first(where: { $0.column == column && $0.number == new }) else {
            // A column may have been local-only when the user edited it.
            if device.state.withLock({ $0.hasChangedTables }) { return }
            return fail(
                .overwrite,
                "\(device.name) replaced \(key).\(column) = \(old) by \(new), which is no edit of its user.")
        }
        if writer?.name == device.name {
            let isOlder = edits.contains { $0.column == column && $0.number == old && old > new }
            if isOlder {
                fail(
                    .doubledEdit, "\(device.name): \(key).\(column) = \(new) was applied again after \(old).")
            }
            return
        }
        // A row that was deleted and inserted again on the device, or enqueued, replaces what was there.
        let isReplacing = edits.contains { other in
            guard other.number <= new else { return false }
            if other.isAdopted {
                return other.completedAt.map { new <= $0 } ?? true
                    && other.insertedAt.map {
                        wasThere(old, column, key, before: $0) || writer?.index ?? 0 < $0
                    } ?? true
            }
            return other.column == nil && other.number > applied
        }
        let hasChangedTables = device.state.withLock { $0.hasChangedTables }
        let hasDeleted = edits.contains {
            $0.column == nil && ($0.deleted.contains(old) || hasChangedTables)
        }
        if !isReplacing, !hasDeleted, !hasSeen(old, edit, edits) {
            fail(
                .overwrite,
                "\(device.name) replaced \(key).\(column) = \(old) by \(new), and had seen \(edit.before.map(String.init) ?? "none")."
            )
        }
    }

    /// An update removes a value only if the user, or a decision, has replaced the row that had it. This includes values that
    /// the column cannot hold.
    private func checkLoss(
        of column: SyncColumn, _ change: ModelServer.Mutation, _ history: History.State,
        _ device: SimulatedDevice
    ) {
        let (name, key) = (column.name, RowKey(table: change.table, id: change.id))
        guard change.kind == .update, let old = change.before?.fields[name], old != .null,
            change.after?.fields[name] ?? .null == .null
        else { return }
        let number = EditValue.number(old, column.type)
        let isReplaced = history.edits.contains { $0.key == key && ($0.column == nil || $0.isAdopted) }
        let isDecided = history.decisions.contains { $0.key == key && $0.seen[name] == number }
        let isEdited = name == "a" && device.state.withLock { $0.rowsEditedByDelegate.contains(key) }
        guard !isReplaced, !isDecided, !isEdited else { return }
        fail(
            .overwrite,
            "\(device.name) updated \(key), and removed \(name) = \(old), which no user has changed.")
    }

    /// A write keeps the column that the app does not declare, unless the user has replaced the row.
    private func checkUndeclaredColumn(
        _ change: ModelServer.Mutation, _ history: History.State, _ device: SimulatedDevice
    ) {
        let (name, key) = (ModelServer.undeclaredColumn, RowKey(table: change.table, id: change.id))
        guard [.update, .undelete].contains(change.kind), let old = change.before?.fields[name], old != .null,
            change.after?.fields[name] != old,
            !history.edits.contains(where: { $0.key == key && ($0.column == nil || $0.isAdopted) })
        else { return }
        fail(
            .overwrite,
            "\(device.name) changed \(key), and with it the column \(name) = \(old), which the app does not declare."
        )
    }

    /// The user who deleted the row has seen its value.
    private func checkDeletion(
        of old: Int64, _ column: String, _ key: RowKey, _ history: History.State,
        _ device: SimulatedDevice, _ writer: Writer
    ) {
        let edits = history.edits.filter { $0.key == key }
        let deletions = edits.filter { $0.column == nil }
        // The user has deleted an item that cannot be read now, or columns of the row are not declared.
        let isUnknown =
            deletions.contains { $0.deleted.isEmpty } || device.state.withLock { $0.hasChangedTables }
        // An enqueued item replaces the row that was there.
        let isReplaced = edits.contains { $0.isAdopted && $0.insertedAt.map { writer.index < $0 } ?? true }
        guard !isUnknown, !isReplaced,
            column != "a" || !device.state.withLock({ $0.rowsEditedByDelegate.contains(key) }),
            !history.decisions.contains(where: { $0.key == key && $0.seen[column] == old }),
            !deletions.contains(where: { $0.deleted.contains(old) })
        else { return }
        let deleted = deletions.flatMap(\.deleted)
        let isSeen = edits.contains { edit in
            edit.column == column && deleted.contains(edit.number) && hasSeen(old, edit, edits)
        }
        if !isSeen {
            fail(.overwrite, "\(device.name) deleted \(key) with \(column) = \(old), and had not seen that.")
        }
    }

    /// Whether the row had the value after one of the server's first changes. The device cannot tell a change of another user
    /// back to that value from the row that it has met.
    private func wasThere(_ value: Int64, _ column: String, _ key: RowKey, before index: Int) -> Bool {
        server.journal.prefix(index).contains { change in
            change.id == key.id && change.table == key.table
                && self.value(of: column, in: change.after, key.table) == value
        }
    }

    /// Whether the user saw the value when they made the edit, or an earlier one that it replaces.
    private func hasSeen(_ value: Int64, _ edit: Edit, _ edits: [Edit]) -> Bool {
        var before = edit.before
        while let seen = before {
            if seen == value { return true }
            before = edits.first { $0.column == edit.column && $0.number == seen }?.before
        }
        return false
    }
}
