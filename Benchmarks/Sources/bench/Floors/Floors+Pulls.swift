// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension Floors {
    /// Writes decoded rows, with one transaction for each page and its token.
    static func pulls(_ todos: [TodoRow], pageSize: Int) -> [Contender] {
        [
            Contender(StoreKind.sqlite.floorName) { trial in
                let rows = RawRows(todos)
                let tables = try RawTables(path: trial.path("floor"))
                try await trial.measure {
                    for start in stride(from: 0, to: todos.count, by: pageSize) {
                        try tables.transaction {
                            for row in rows.rows[start..<min(start + pageSize, todos.count)] {
                                try tables.put(row, of: rows, isFromServer: true)
                            }
                            try tables.putToken(rows.time)
                        }
                    }
                }
                return try tables.checksum()
            },
            Contender(StoreKind.lmdb.floorName) { trial in
                let rows = RawRows(todos)
                let map = try RawMap(path: trial.path("floor"))
                try await trial.measure {
                    for start in stride(from: 0, to: todos.count, by: pageSize) {
                        try map.write { transaction in
                            for row in rows.rows[start..<min(start + pageSize, todos.count)] {
                                try transaction.put(row)
                            }
                        }
                    }
                }
                return try map.read { try $0.checksum() }
            },
            Contender(StoreKind.memory.floorName) { trial in
                let items = todos.map(\.item)
                var state = PlainState()
                try await trial.measure { for item in items { state.put(item) } }
                return state.checksum
            },
        ]
    }
}
