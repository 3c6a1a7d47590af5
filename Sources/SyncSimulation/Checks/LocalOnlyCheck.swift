// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The last edit of an item's column that exists on the device only.
struct LocalOnlyEdit: Sendable {
    let key: RowKey
    let column: String
    /// The value; `nil` for none.
    let number: Int64?
}

extension SimulatedSystem {
    /// What the user has entered in a column that exists on the device only stays until the user changes it or the item is
    /// removed: no response, pull or decision changes it.
    func checkLocalOnlyColumns(_ snapshot: any StoreSnapshot, _ device: SimulatedDevice) throws {
        let edits = device.history.snapshot.localOnly.values
        for edit in edits.sorted(by: { $0.key.description < $1.key.description }) {
            let row = edit.key
            guard let item = try snapshot.item(id: row.id, in: row.table) else {
                device.history.forgetLocalOnlyEdits { $0 == row }
                continue
            }
            let number = EditValue.number(item.fields[edit.column])
            if number != edit.number {
                fail(
                    .lostEdit,
                    "\(device.name): \(row).\(edit.column) exists on the device only, and was changed from "
                        + "\(edit.number ?? -1) to \(number ?? -1).")
            }
        }
    }
}
