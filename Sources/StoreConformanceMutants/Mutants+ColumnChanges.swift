// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors with columns that are declared otherwise than at the last opening.
    @MutantList static var columnDeclarations: [StoreMutant] {
        StoreMutant(
            .opening, "names-ignore-case", "A name that differs in case only from a stored one is accepted.",
            killedBy: "columns.case", message: "opening with the column 'Label'", needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                do { return try base.open(at: path, tables: tables) } catch let error as StoreError
                    where error.code == .schemaMismatch && tables.map(\.name) != ["T"]
                {
                    hits.hit()
                    return try base.open(at: path, tables: [])
                }
            }
        }
        StoreMutant(
            .opening, "index-not-filled",
            "An index that is declared again lacks the items that were written without it.",
            killedBy: "columns.index-again", message: "found by the value of an item that was added",
            needsDurableStore: true
        ) { flaw in
            let isIndexed = Shared(true)
            let missing = Fixture.key("missing", .setting)
            flaw.openBase = { base, path, tables in
                isIndexed.change { $0 = tables.contains { $0.column(named: "mark")?.isIndexed ?? false } }
                return try base.open(at: path, tables: tables)
            }
            flaw.upsert = { transaction, items, table in
                if table == "Thing", !isIndexed.value {
                    let ids = try transaction.configValue(missing) ?? ""
                    try transaction.setConfigValue(ids + items.map(\.id).joined(), for: missing)
                }
                try transaction.upsert(items, in: table)
            }
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let found = try snapshot.items(matching: query)
                guard isIndexed.value, query.filter?.columns.contains("mark") == true,
                    let ids = try snapshot.configValue(missing)
                else { return found }
                let items = found.items.filter { !ids.contains($0.id) }
                return hits.changing(found, to: QueryResult(items: items, totalCount: found.totalCount))
            }
        }
        StoreMutant(
            .opening, "stays-synced", "A column that becomes local-only stays a synced one.",
            killedBy: "columns.synced", "columns.tokens", message: "the item with the local-only column",
            needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                let synced = tables.map { table in
                    SyncTableDefinition(
                        table.name,
                        columns: table.columns.map {
                            $0.name == "label"
                                ? SyncColumn($0.name, $0.type, isIndexed: $0.isIndexed) : $0
                        }, parents: table.parents)
                }
                if synced != tables { hits.hit() }
                return try base.open(at: path, tables: synced)
            }
        }
        StoreMutant(
            .opening, "tokens-stay", "Delta tokens are kept when the synced columns change.",
            killedBy: "columns.tokens", message: "the token after a change of a column",
            needsDurableStore: true
        ) { flaw in
            flaw.openBase = { [hits = flaw.hits] base, path, tables in
                guard tables != Fixture.tables, tables.count == Fixture.tables.count else {
                    return try base.open(at: path, tables: tables)
                }
                let former = try base.open(at: path, tables: Fixture.tables)
                let tokens = try former.read { try $0.configValues(in: "Thing", kind: .deltaToken) }
                try former.close()
                let store = try base.open(at: path, tables: tables)
                try store.write { transaction in
                    for (key, value) in tokens where try transaction.configValue(key) == nil {
                        hits.hit()
                        try transaction.setConfigValue(value, for: key)
                    }
                }
                return store
            }
        }
    }
}
