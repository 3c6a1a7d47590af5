// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import SyncCore

/// A GRDB connection, valid only inside the database access that provides it.
struct Connection {
    private let database: Database
    private let statements = PreparedStatements()
    /// Buffer for the strings of one row at a time.
    let rowTexts = RowTexts()

    init(_ database: Database) {
        self.database = database
    }

    /// Returns a statement from GRDB's cache. Use it for a limited number of SQL texts.
    func cached(_ sql: String, writes: Bool = false) throws -> SQLStatement {
        do {
            return SQLStatement(try database.cachedStatement(sql: sql), writes: writes)
        } catch {
            throw StoreError.translated(error)
        }
    }

    /// Returns a cached statement without hashing its text after the first use.
    func cached(_ sql: SQLText, writes: Bool = false) throws -> SQLStatement {
        if let statement = statements[sql] { return statement }
        let statement = try cached(sql.text, writes: writes)
        statements[sql] = statement
        return statement
    }

    /// Prepares a statement for one use.
    func prepared(_ sql: String, writes: Bool = false) throws -> SQLStatement {
        do {
            return SQLStatement(try database.makeStatement(sql: sql), writes: writes)
        } catch {
            throw StoreError.translated(error)
        }
    }

    /// Runs statements without parameters.
    func execute(_ sql: String) throws {
        do { try database.execute(sql: sql) } catch { throw StoreError.translated(error) }
    }

    /// The number of rows that the last statement changed.
    var changedRowCount: Int { Int(sqlite3_changes(database.sqliteConnection)) }

    /// Registers the functions that compiled filters call, once per connection.
    func registerFunctions() throws {
        // Registering again would invalidate all prepared statements. The check is a cache lookup.
        if (try? database.cachedStatement(sql: "SELECT \(SQLFunctions.probe)()")) != nil { return }
        try SQLFunctions.register(on: database.sqliteConnection)
    }

    /// Prepares the connection for an untrusted file: its schema must not call functions, no other file can be attached, and
    /// pages are checked.
    func distrustFile() throws {
        sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, 0)
        try execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
    }

    /// Whether a commit survives power loss: the database is a file and syncs each commit.
    var isDurable: Bool {
        get throws {
            let needed: Int64? =
                switch try text("PRAGMA journal_mode") {
                case "wal", "truncate", "persist": 2
                // Only EXTRA makes the deletion of the journal durable, which is the commit.
                case "delete": 3
                default: nil
                }
            guard let needed, try int("PRAGMA synchronous") ?? 0 >= needed else { return false }
            #if canImport(Darwin)
                // fsync does not flush the drive's cache.
                guard try int("PRAGMA fullfsync") == 1 else { return false }
            #endif
            let file = try text("SELECT file FROM pragma_database_list WHERE name='main'")
            return file.map { !$0.isEmpty } ?? false
        }
    }

    /// Returns the statement that creates the table as it is now.
    func creation(ofTable table: String) throws -> String? {
        let statement = try prepared(
            """
            SELECT "sql" FROM sqlite_master
            WHERE \(SchemaObject.sqlKind)='table' AND \(SchemaObject.sqlName)=?
            """)
        try statement.bind(table, at: 1)
        return try statement.firstRow { $0.schemaText(at: 0) } ?? nil
    }

    /// Returns the collation that a column was declared with.
    func collation(ofColumn column: String, of table: String) -> String? {
        var collation: UnsafePointer<CChar>?
        let code = sqlite3_table_column_metadata(
            database.sqliteConnection, "main", table, column, nil, &collation, nil, nil, nil)
        return code == SQLITE_OK ? collation.map { String(cString: $0) } : nil
    }

    /// Whether SQLite opened the file read-only.
    var isReadOnly: Bool { sqlite3_db_readonly(database.sqliteConnection, nil) == 1 }
}

extension Connection {
    /// Returns the integer result of a query, such as a pragma.
    func int(_ sql: String) throws -> Int64? {
        try prepared(sql).firstRow { $0.int(at: 0) }
    }

    /// Returns the string result of a query, such as a pragma.
    func text(_ sql: String) throws -> String? {
        try prepared(sql).firstRow { $0.schemaText(at: 0) } ?? nil
    }
}

extension String {
    /// The string as a quoted SQL identifier.
    var quoted: String { quoted(with: UInt8(ascii: "\"")) }

    /// Doubles quotes byte by byte, as SQLite reads them: a format character and the quote after it are one `Character`.
    func quoted(with quote: UInt8) -> String {
        let bytes = utf8.contains(quote) ? utf8.flatMap { $0 == quote ? [quote, quote] : [$0] } : Array(utf8)
        return String(decoding: [quote] + bytes + [quote], as: UTF8.self)
    }
}
