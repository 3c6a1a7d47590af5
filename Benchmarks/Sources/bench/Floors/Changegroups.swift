// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import CChangegroup

/// SQLite's session extension: a session records changes, and a changegroup collapses them.
enum Changegroups {
    static func collapse(_ todos: [TodoRow], batch: Int, over originals: [TodoRow]) -> Contender {
        Contender("changegroup") { trial in
            let rows = RawRows(todos)
            let tables = try RawTables(path: trial.path("changegroup"))
            try tables.fill(with: originals)
            guard let changes = changes_begin(tables.database.handle, "item") else {
                throw WrongResult("SQLite is built without the session extension.")
            }
            defer { changes_end(changes) }
            let count = try await trial.measure {
                for start in stride(from: 0, to: todos.count, by: batch) {
                    try tables.transaction {
                        for row in rows.rows[start..<start + batch] {
                            try tables.put(row, of: rows, isFromServer: true)
                        }
                    }
                    guard changes_collect(changes) == 0 else { throw WrongResult("A session failed.") }
                }
                return Int(changes_count(changes))
            }
            return try tables.checksum() + 7919 * count
        }
    }
}
