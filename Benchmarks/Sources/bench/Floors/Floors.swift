// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The minimum work for a workload, with only the database's own calls.
enum Floors {
    /// Writes items with their operations, `batch` per transaction. Each write first looks up the item's pending
    /// operation, as collapsing requires.
    static func localWrites(
        _ todos: [TodoRow], batch: Int, kind: TableOperation.Kind, over originals: [TodoRow]
    ) -> [Contender] {
        return [
            Contender(StoreKind.sqlite.floorName) { trial in
                let rows = RawRows(todos, kind: kind)
                let tables = try RawTables(path: trial.path("floor"))
                try tables.fill(with: originals)
                try await trial.measure {
                    var last = 0
                    for start in stride(from: 0, to: todos.count, by: batch) {
                        try tables.transaction {
                            for index in start..<min(start + batch, todos.count) {
                                let row = rows.rows[index]
                                let pending = try tables.operation(of: row, rows)
                                if pending == nil { last += 1 }
                                try tables.put(row, of: rows, isFromServer: false)
                                try tables.putOperation(pending ?? last, for: row, of: rows)
                            }
                        }
                    }
                }
                return try tables.checksum()
            },
            Contender(StoreKind.lmdb.floorName) { trial in
                let rows = RawRows(todos, kind: kind)
                let map = try RawMap(path: trial.path("floor"))
                let synced = RawRows(originals)
                try map.write { transaction in
                    for row in synced.rows { try transaction.put(row) }
                }
                try await trial.measure {
                    var last = 0
                    for start in stride(from: 0, to: todos.count, by: batch) {
                        try map.write { transaction in
                            for index in start..<min(start + batch, todos.count) {
                                let row = rows.rows[index]
                                let pending = try transaction.operation(of: row)
                                if pending == nil { last += 1 }
                                try transaction.put(row)
                                try transaction.putOperation(pending ?? last, for: row, isNew: pending == nil)
                            }
                        }
                    }
                }
                return try map.read { try $0.checksum() }
            },
            Contender(StoreKind.memory.floorName) { trial in
                let items = todos.map(\.item)
                var state = PlainState()
                for item in originals.map(\.item) { state.put(item) }
                try await trial.measure {
                    var last: Int64 = 0
                    for item in items {
                        last += 1
                        state.put(item)
                        state.put(
                            TableOperation(id: last, table: TodoRow.table, itemID: item.id, kind: kind))
                    }
                }
                return state.checksum
            },
        ]
    }
}
