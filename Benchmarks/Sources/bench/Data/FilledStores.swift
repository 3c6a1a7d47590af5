// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Stores, floors and the peer with the same synced rows, for benchmarks that read.
struct FilledStores: Sendable {
    let count: Int
    let directory: SharedDirectory

    func context(_ kind: StoreKind, isIndexed: Bool) -> Shared<BenchContext> {
        Shared {
            let definition = isIndexed ? TodoRow.indexedDefinition : TodoRow.definition
            let store = try kind.open(at: directory.path("store"), tables: [definition])
            try store.fill(count: count)
            return BenchContext(context: SyncContext(store), dataSource: store)
        }
    }

    /// Returns the path of a filled SQLite database for a floor.
    func tables(isIndexed: Bool) -> Shared<String> {
        Shared {
            let path = directory.path("floor")
            let tables = try RawTables(path: path)
            for todos in batches { try tables.fill(with: todos) }
            if isIndexed { try tables.database.execute("CREATE INDEX item_priority ON item(priority)") }
            return path
        }
    }

    func map() -> Shared<String> {
        Shared {
            let path = directory.path("floor")
            let map = try RawMap(path: path)
            for todos in batches {
                let rows = RawRows(todos)
                try map.write { transaction in
                    for row in rows.rows { try transaction.put(row) }
                }
            }
            return path
        }
    }

    func plainItems() -> Shared<[String: Item]> {
        Shared {
            Dictionary(uniqueKeysWithValues: (0..<count).lazy.map { TodoRow($0).item }.map { ($0.id, $0) })
        }
    }

    func peer(isIndexed: Bool) -> Shared<PeerDatabase> {
        Shared {
            let peer = try PeerDatabase(path: directory.path("peer"))
            for todos in batches { try peer.fill(with: todos) }
            if isIndexed { try peer.makeIndex() }
            return peer
        }
    }

    private var batches: some Sequence<[TodoRow]> {
        stride(from: 0, to: count, by: 10_000).lazy.map { start in
            (start..<min(start + 10_000, count)).map { TodoRow($0) }
        }
    }
}

extension SyncContextDataSource {
    /// Writes a number of synced rows into the store.
    func fill(count: Int) throws {
        for start in stride(from: 0, to: count, by: 10_000) {
            let items = (start..<min(start + 10_000, count)).map { TodoRow($0).item }
            try write { try $0.upsert(items, in: TodoRow.table) }
        }
    }
}
