// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import GRDBSQLite
import SyncCore

/// One of GRDB's connections, for as long as GRDB lends it.
struct Connection {
    private let database: Database
    private let statements = PreparedStatements()
    /// Room for the texts of one row at a time.
    let rowTexts = RowTexts()

    init(_ database: Database) {
        self.database = database
    }

    /// A statement that is kept for the next time: for texts of which there are few.
    func cached(_ sql: String, writes: Bool = false) throws -> SQLStatement {
        do {
            return SQLStatement(try database.cachedStatement(sql: sql), writes: writes)
        } catch {
            throw StoreError.translated(error)
        }
    }

    /// A statement that is used again and again: after the first time it is found without reading its text.
    func cached(_ sql: SQLText, writes: Bool = false) throws -> SQLStatement {
        if let statement = statements[sql] { return statement }
        let statement = try cached(sql.text, writes: writes)
        statements[sql] = statement
        return statement
    }

    /// A statement for one use.
    func prepared(_ sql: String, writes: Bool = false) throws -> SQLStatement {
        do {
            return SQLStatement(try database.makeStatement(sql: sql), writes: writes)
        } catch {
            throw StoreError.translated(error)
        }
    }

    /// Runs statements without values.
    func execute(_ sql: String) throws {
        do { try database.execute(sql: sql) } catch { throw StoreError.translated(error) }
    }

    /// How many rows the last statement changed.
    var changedRowCount: Int { database.changesCount }

    /// Makes sure that the functions which filters call are known to this connection.
    func registerFunctions() throws {
        // Registering again would make SQLite prepare every statement anew. Asking costs a look into the cache.
        if (try? database.cachedStatement(sql: "SELECT \(SQLFunctions.probe)()")) != nil { return }
        try SQLFunctions.register(on: database.sqliteConnection)
    }

    /// Whether a commit survives the loss of power: the database is in a file and syncs each commit.
    var isDurable: Bool {
        get throws {
            guard try int("PRAGMA synchronous") ?? 0 >= 2 else { return false }
            let file = try text("SELECT file FROM pragma_database_list WHERE name='main'")
            return file.map { !$0.isEmpty } ?? false
        }
    }

    /// Whether the file could be opened for reading only.
    var isReadOnly: Bool { sqlite3_db_readonly(database.sqliteConnection, nil) == 1 }
}

extension Connection {
    /// The number that a statement returns, such as a pragma.
    func int(_ sql: String) throws -> Int64? {
        try prepared(sql).firstRow { $0.int(at: 0) }
    }

    /// The text that a statement returns, such as a pragma.
    func text(_ sql: String) throws -> String? {
        try prepared(sql).firstRow { $0.text(at: 0) } ?? nil
    }
}

extension String {
    /// The name as an SQL identifier.
    var quoted: String {
        "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}
