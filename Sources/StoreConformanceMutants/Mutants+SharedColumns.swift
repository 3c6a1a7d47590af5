// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores whose openings confuse their own columns and those of other openings.
    @MutantList static var sharedColumns: [StoreMutant] {
        declaring(
            "columns-replaced", "A write removes the values of columns that only another opening declares.",
            killedBy: "capability.multi-process.columns", message: "after a write without the columns"
        ) { flaw in
            let declared = flaw.shareInProcess()
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                if try items.contains(where: { try declared.merged($0, table, transaction) != $0 }) {
                    hits.hit()
                }
                try transaction.upsert(items, in: table)
            }
        }
        declaring(
            "columns-shown", "A read returns the values of columns that only another opening declares.",
            killedBy: "capability.multi-process.columns", message: "read without the columns"
        ) { flaw in
            let declared = flaw.shareInProcess()
            flaw.item = { [hits = flaw.hits] snapshot, id, table in
                try snapshot.item(id: id, in: table).map { item in
                    if declared.visible(item, table) != item { hits.hit() }
                    return item
                }
            }
            flaw.items = nil
        }
    }
}
