// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreFlaw {
    /// Shares one base store between the openings of this process. Each has its columns, the locks and the stamp.
    ///
    /// - Returns: the tables of this opening.
    @discardableResult
    mutating func shareInProcess() -> DeclaredTables {
        let declared = DeclaredTables()
        declare { $0.isMultiProcess = true }
        openBase = { base, path, tables in
            declared.open(try TableCatalog(tables))
            return SharedOpening(try OneStore.open(path, base, Fixture.allColumns(of: tables)))
        }
        lockWithinProcess()
        stampWithinProcess()
        catalog = { declared.catalog ?? $0 }
        item = { snapshot, id, table in
            try snapshot.item(id: id, in: table).map { declared.visible($0, table) }
        }
        items = { snapshot, query in
            let found = try snapshot.items(matching: query)
            return QueryResult(
                items: found.items.map { declared.visible($0, query.table) }, totalCount: found.totalCount)
        }
        upsert = { transaction, items, table in
            try transaction.upsert(items.map { try declared.merged($0, table, transaction) }, in: table)
        }
        return declared
    }
}

/// The tables that an opening declares of a store with more columns.
final class DeclaredTables: Sendable {
    private let opened = Shared<TableCatalog?>(nil)

    var catalog: TableCatalog? { opened.value }

    func open(_ catalog: TableCatalog) { opened.change { $0 = catalog } }

    /// Returns the item without the fields that the opening does not declare.
    func visible(_ item: Item, _ table: String) -> Item {
        var visible = item
        visible.fields = item.fields.filter { declares($0.key, in: table) }
        return visible
    }

    /// Returns the item with the stored fields that the opening does not declare.
    func merged(_ item: Item, _ table: String, _ transaction: any StoreTransaction) throws -> Item {
        var merged = item
        let stored = try transaction.item(id: item.id, in: table)?.fields ?? [:]
        for (name, value) in stored where !declares(name, in: table) { merged.fields[name] = value }
        return merged
    }

    private func declares(_ column: String, in table: String) -> Bool {
        catalog?.tables.first { $0.name == table }?.column(named: column) != nil
    }
}

extension Fixture {
    /// Returns the tables of the fixture if they have all the tables and columns, so that each opening finds its own.
    static func allColumns(of declared: [SyncTableDefinition]) -> [SyncTableDefinition] {
        let areFixtures = declared.allSatisfy { table in
            tables.contains { $0.name == table.name && table.columns.allSatisfy($0.columns.contains) }
        }
        return areFixtures && !declared.isEmpty ? tables : declared
    }
}
