// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

extension SimulatedSystem {
    /// The user sees their edits until the server has them or a decision replaces them: the item has each value, or is
    /// deleted, and an operation is pending. Holds when no act is running, because acts record decisions after their commits.
    func checkVisibleEdits(of device: SimulatedDevice) {
        let (unqueued, edited, hasChangedTables) = device.state.withLock {
            ($0.unqueued, $0.rowsEditedByDelegate, $0.hasChangedTables)
        }
        guard !hasChangedTables else { return }
        let edits = device.history.snapshot.edits
        var newest: [String: Edit] = [:]
        // Decisions record their edits after later ones.
        for edit in edits.sorted(by: { $0.number < $1.number })
        where edit.companion == nil && !unqueued.contains(edit.key) {
            if edit.column == nil {
                newest = newest.filter { $0.value.key != edit.key }
            } else {
                newest["\(edit.key)"] = nil
            }
            newest["\(edit.key)\(edit.column.map { ".\($0)" } ?? "")"] = edit
        }
        do {
            for edit in newest.values.sorted(by: { $0.number < $1.number }) where !edit.isOverruled {
                if edit.column == "a", edited.contains(edit.key) { continue }
                try checkVisibleEdit(edit, device)
            }
        } catch {
            fail(.store, "\(device.name): the edits cannot be read: \(error)")
        }
    }

    private func checkVisibleEdit(_ edit: Edit, _ device: SimulatedDevice) throws {
        let key = edit.key
        let hasReached =
            if let column = edit.column {
                server.journal.contains { change in
                    change.table == key.table && change.id == key.id
                        && value(of: column, in: change.after, key.table) == edit.number
                }
            } else {
                hasReached(edit, device)
            }
        guard !hasReached else { return }
        let (item, operations) = try device.disk.store.read {
            (try $0.item(id: key.id, in: key.table), try $0.operations(forItem: key.id, in: key.table))
        }
        guard let column = edit.column else {
            // A deletion of an item that the server has never had leaves nothing to send.
            if edit.hadVersion, item != nil {
                fail(.lostEdit, "\(device.name) shows \(key), which its user has deleted.")
            }
            return
        }
        let shown = EditValue.number(item?.fields[column])
        if shown != edit.number || operations.isEmpty {
            fail(
                .lostEdit,
                "\(device.name) shows \(key).\(column) = \(shown.map(String.init) ?? "nothing") with "
                    + "\(operations.count) operations, and its user has entered \(edit.number).")
        }
    }
}
