// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore

extension StoreMutant {
    /// Stores that open without a part of the committed data.
    @MutantList static var reopenings: [StoreMutant] {
        StoreMutant(
            .durability, "side-file",
            "The operations of an item and indexed values are found by a file that only close writes.",
            killedBy: "durable.image", "durable.image.inside", "crash.any-time",
            message: "the copy after write 0", needsDurableStore: true
        ) { flaw in
            flaw.needsFiles = true
            let file = SideFile(path: flaw.path + ".side")
            let lost = Shared<Set<String>>([])
            flaw.openBase = { base, path, tables in
                let store = try base.open(at: path, tables: tables)
                let entries = try SideFile.entries(of: store).subtracting(file.saved)
                lost.change { $0 = entries }
                return store
            }
            flaw.close = { base in
                if let entries = try? SideFile.entries(of: base) { file.save(entries) }
                try base.close()
            }
            flaw.items = { [hits = flaw.hits] snapshot, query in
                let right = try snapshot.items(matching: query)
                guard case .comparison(.equal, .column("mark"), .constant(let mark))? = query.filter
                else { return right }
                let found = right.items.filter { !lost.value.contains(SideFile.entry(of: $0, mark: mark)) }
                return hits.changing(right, to: QueryResult(items: found, totalCount: right.totalCount))
            }
            flaw.operationsOfItem = { [hits = flaw.hits] snapshot, id, table in
                let right = try snapshot.operations(forItem: id, in: table)
                return hits.changing(
                    right, to: right.filter { !lost.value.contains(SideFile.entry(of: $0)) })
            }
        }
        StoreMutant(
            .opening, "drops-config", "Opening removes the config values of undeclared tables.",
            killedBy: "durable.gone-table", message: "its config value of the kind", needsDurableStore: true
        ) { flaw in
            flaw.changeUndeclared { [hits = flaw.hits] transaction, table in
                for kind in ConfigKey.Kind.allCases {
                    for (key, _) in try transaction.configValues(in: table, kind: kind) {
                        hits.hit()
                        try transaction.setConfigValue(nil, for: key)
                    }
                }
            }
        }
        StoreMutant(
            .opening, "drops-errors", "Opening removes the errors of undeclared tables.",
            killedBy: "durable.gone-table", message: "its errors while undeclared", needsDurableStore: true
        ) { flaw in
            flaw.changeUndeclared { [hits = flaw.hits] transaction, table in
                for error in try transaction.operationErrors(in: table) {
                    hits.hit()
                    try transaction.removeOperationError(operationID: error.operationID)
                }
            }
        }
    }
}

extension StoreFlaw {
    /// Changes the data of each table of ``Fixture/tables`` that is not declared at an opening.
    fileprivate mutating func changeUndeclared(
        _ change: @escaping @Sendable (any StoreTransaction, _ table: String) throws -> Void
    ) {
        openBase = { base, path, tables in
            let store = try base.open(at: path, tables: tables)
            let declared = Set(tables.map(\.name))
            try store.write { transaction in
                for table in Fixture.tables where !declared.contains(table.name) {
                    try change(transaction, table.name)
                }
            }
            return store
        }
    }
}

/// A file with the operations and the marks of a store.
private struct SideFile {
    let path: String

    var saved: [String] {
        let contents = FileManager.default.contents(atPath: path) ?? Data()
        return String(decoding: contents, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    func save(_ entries: Set<String>) { Files.make(path, Data(entries.joined(separator: "\n").utf8)) }

    static func entries(of store: any SyncContextDataSource) throws -> Set<String> {
        let hasItems = store.catalog.tables.contains { $0.name == Fixture.thing.name }
        return try store.read { snapshot in
            let operations = try snapshot.operations(after: 0, in: nil, limit: .max)
            let items = try hasItems ? snapshot.items(matching: TableQuery(Fixture.thing.name)).items : []
            let marks = items.compactMap { item in item["mark"].map { entry(of: item, mark: $0) } }
            return Set(operations.map { entry(of: $0) } + marks)
        }
    }

    static func entry(of operation: TableOperation) -> String { "operation \(operation.id)" }

    static func entry(of item: Item, mark: ItemValue) -> String {
        "item \(item.id.exactDescription) \(mark.exactDescription)"
    }
}
