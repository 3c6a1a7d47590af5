// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDBSQLite

/// The tables of a hand-written SQLite app, with their statements.
struct RawTables {
    let database: RawDatabase
    private let putItem: RawStatement
    private let putOperation: RawStatement
    private let findOperation: RawStatement
    private let putToken: RawStatement

    init(path: String, isDurable: Bool = true) throws {
        database = try RawDatabase(path: path, isDurable: isDurable)
        try database.execute(
            """
            CREATE TABLE item(id TEXT PRIMARY KEY NOT NULL, createdAt TEXT, updatedAt TEXT, version TEXT,
              title TEXT, note TEXT, complete INTEGER, priority INTEGER, price REAL, due TEXT);
            CREATE TABLE operation(id INTEGER PRIMARY KEY, tableName TEXT, itemId TEXT, properties TEXT);
            CREATE INDEX operation_item ON operation(tableName, itemId);
            CREATE TABLE token(id INTEGER PRIMARY KEY, value TEXT);
            """)
        putItem = try database.prepare(
            """
            INSERT INTO item VALUES(?,?,?,?,?,?,?,?,?,?) ON CONFLICT(id) DO UPDATE SET \
            createdAt=excluded.createdAt, updatedAt=excluded.updatedAt, version=excluded.version, \
            title=excluded.title, note=excluded.note, complete=excluded.complete, \
            priority=excluded.priority, price=excluded.price, due=excluded.due
            """)
        putOperation = try database.prepare("INSERT OR REPLACE INTO operation VALUES(?,?,?,?)")
        findOperation = try database.prepare(
            "SELECT id, properties FROM operation WHERE tableName = ? AND itemId = ? ORDER BY id")
        putToken = try database.prepare("INSERT OR REPLACE INTO token VALUES(1,?)")
    }

    /// Writes synced items.
    func fill(with todos: [TodoRow]) throws {
        let rows = RawRows(todos)
        try transaction {
            for row in rows.rows { try put(row, of: rows, isFromServer: true) }
        }
    }

    func transaction(_ body: () throws -> Void) throws {
        try database.execute("BEGIN IMMEDIATE")
        try body()
        try database.execute("COMMIT")
    }

    /// Writes an item, with system properties if it is from a server.
    func put(_ row: RawRows.Row, of rows: RawRows, isFromServer: Bool) throws {
        putItem.bind(row.id, at: 1)
        if isFromServer {
            putItem.bind(rows.time, at: 2)
            putItem.bind(rows.time, at: 3)
            putItem.bind(rows.version, at: 4)
        }
        putItem.bind(row.title, at: 5)
        putItem.bind(row.note, at: 6)
        putItem.bind(row.complete, at: 7)
        putItem.bind(row.priority, at: 8)
        putItem.bind(row.price, at: 9)
        putItem.bind(row.due, at: 10)
        try putItem.run()
    }

    /// Returns the id of the item's pending operation, and reads its properties.
    func operation(of row: RawRows.Row, _ rows: RawRows) throws -> Int? {
        findOperation.bind(rows.table, at: 1)
        findOperation.bind(row.id, at: 2)
        return try findOperation.first { statement in
            _ = sqlite3_column_text(statement, 1)
            return Int(sqlite3_column_int64(statement, 0))
        }
    }

    func putOperation(_ id: Int, for row: RawRows.Row, of rows: RawRows) throws {
        putOperation.bind(id, at: 1)
        putOperation.bind(rows.table, at: 2)
        putOperation.bind(row.id, at: 3)
        putOperation.bind(row.operation, at: 4)
        try putOperation.run()
    }

    func putToken(_ text: RawText) throws {
        putToken.bind(text, at: 1)
        try putToken.run()
    }

    func checksum() throws -> Int {
        try database.int(
            "SELECT (SELECT coalesce(sum(priority + 1000003), 0) FROM item) + 7919 * (SELECT count(*) FROM operation)"
        )
    }
}
