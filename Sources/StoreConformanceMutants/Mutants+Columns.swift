// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors with undeclared values, and with columns that are added or removed.
    @MutantList static var columnChanges: [StoreMutant] {
        StoreMutant(
            .write, "loses-undeclared", "Undeclared values are not stored.",
            killedBy: "columns.undeclared", "corpus.version", "model.scripts",
            message: "an item without fields"
        ) { flaw in
            flaw.changingStoredItem { item in
                var changed = item
                changed.system.undeclared = [:]
                return changed
            }
        }
        StoreMutant(
            .opening, "columns-stay", "A column that is no longer declared stays a field.",
            killedBy: "columns.dropped", "columns.local", "columns.remembered",
            message: "the item without the column", needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let kept = tables.map { $0.name == "Thing" ? Fixture.thing : $0 }
                if kept != tables { hits.hit() }
                return try base.open(at: path, tables: kept)
            }
        }
        StoreMutant(
            .opening, "undeclared-forgotten", "Undeclared values are lost when the store closes.",
            killedBy: "columns.declared", message: "the item whose values have the right type",
            needsDurableStore: true
        ) { flaw in
            flaw.close = { [hits = flaw.hits] base in
                try? base.write { transaction in
                    for table in base.catalog.tables.map(\.name) {
                        for var item in try transaction.items(matching: TableQuery(table)).items
                        where !item.system.undeclared.isEmpty {
                            hits.hit()
                            item.system.undeclared = [:]
                            try transaction.upsert([item], in: table)
                        }
                    }
                }
                try base.close()
            }
        }
    }
}
