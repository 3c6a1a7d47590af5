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
            let declared = flaw.shareColumns()
            flaw.changeRead(hiding: declared)
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                for item in items {
                    let former = try transaction.item(id: item.id, in: table)
                    if former?.fields.keys.contains(where: { !declared.declares($0, in: table) }) == true {
                        hits.hit()
                    }
                }
                try transaction.upsert(items, in: table)
            }
        }
        declaring(
            "columns-shown", "A read returns the values of columns that only another opening declares.",
            killedBy: "capability.multi-process.columns", message: "read without the columns"
        ) { flaw in
            let declared = flaw.shareColumns()
            flaw.upsert = { [hits = flaw.hits] transaction, items, table in
                let merged = try items.map { item in
                    var merged = item
                    let former = try transaction.item(id: item.id, in: table)
                    for (name, value) in former?.fields ?? [:] where !declared.declares(name, in: table) {
                        hits.hit()
                        merged.fields[name] = value
                    }
                    return merged
                }
                try transaction.upsert(merged, in: table)
            }
        }
    }
}

/// The tables that an opening declares of a store with more columns.
private final class DeclaredTables: Sendable {
    private let opened = Shared<TableCatalog?>(nil)

    var catalog: TableCatalog? { opened.value }

    func open(_ catalog: TableCatalog) { opened.change { $0 = catalog } }

    func declares(_ column: String, in table: String) -> Bool {
        let definition = catalog?.tables.first { $0.name == table }
        return definition.map { $0.column(named: column) != nil } ?? true
    }
}

extension StoreFlaw {
    /// Shares one base store that has all columns.
    ///
    /// - Returns: the tables of this opening.
    fileprivate mutating func shareColumns() -> DeclaredTables {
        shareInProcess()
        let declared = DeclaredTables()
        let open = openBase
        openBase = { base, path, tables in
            declared.open(try TableCatalog(tables))
            return try open?(base, path, tables) ?? base.open(at: path, tables: tables)
        }
        catalog = { declared.catalog ?? $0 }
        return declared
    }

    /// Removes the fields of columns that the opening does not declare from items that are read.
    fileprivate mutating func changeRead(hiding declared: DeclaredTables) {
        @Sendable func visible(_ item: Item, _ table: String) -> Item {
            var visible = item
            visible.fields = item.fields.filter { declared.declares($0.key, in: table) }
            return visible
        }
        item = { snapshot, id, table in try snapshot.item(id: id, in: table).map { visible($0, table) } }
        items = { snapshot, query in
            let found = try snapshot.items(matching: query)
            return QueryResult(
                items: found.items.map { visible($0, query.table) }, totalCount: found.totalCount)
        }
    }
}
