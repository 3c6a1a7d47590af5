// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The tables that hand-written code would keep in SQLite, with the statements on them.
struct RawTables {
    let database: RawDatabase
    private let putItem: RawStatement
    private let putOperation: RawStatement
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
        putToken = try database.prepare("INSERT OR REPLACE INTO token VALUES(1,?)")
    }

    func transaction(_ body: () throws -> Void) throws {
        try database.execute("BEGIN IMMEDIATE")
        try body()
        try database.execute("COMMIT")
    }

    /// Writes an item; one from a server has system properties.
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
            "SELECT (SELECT coalesce(sum(priority + 1000003), 0) FROM item) + 7919 * (SELECT count(*) FROM operation)")
    }
}
