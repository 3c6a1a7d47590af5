// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite
import SyncCore

/// The write-ahead log of a process that ended without closing its database.
///
/// SQLite reads any intact log beside a database, because the log does not name its database, and copies it into the
/// database when a connection that can write closes. The log of another database would replace the store's content. This
/// check therefore reads the log through a connection that cannot write.
struct LeftoverLog {
    let databasePath: String

    /// The size of the header of a log, which has no commit.
    private static let headerSize: UInt64 = 32

    /// - Throws: ``StoreError/Code/corrupt`` when the log belongs to another database; the errors of
    ///   ``StoreFormat/check()``.
    func check() throws {
        guard size > Self.headerSize else { return }
        var configuration = ConnectionSettings(isDurable: true).configuration
        configuration.readonly = true
        let queue = try DatabaseQueue(path: databasePath, configuration: configuration)
        let identity = try queue.read { try StoreFormat(connection: Connection($0), ownsFile: true).identity }
        try queue.close()
        try require(identity)
    }

    /// Checks the identity that a connection has read through the log.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` when the log belongs to another database.
    func require(_ identity: String?) throws(StoreError) {
        // An interrupted checkpoint can make the database unreadable without its log.
        guard let expected = identityWithoutLog, identity != expected else { return }
        throw StoreError(
            .corrupt,
            """
            '\(databasePath)-wal' is the log of another database. Restore the log of this database, or move the other one \
            away.
            """)
    }

    /// The size of the log; 0 when there is none.
    private var size: UInt64 {
        let attributes = try? FileManager.default.attributesOfItem(atPath: databasePath + "-wal")
        return attributes?[.size] as? UInt64 ?? 0
    }

    /// The identity in the database file alone; `nil` when it is not there or cannot be read.
    private var identityWithoutLog: String? {
        // SQLite reads no log beside a file that it is told not to change.
        let uri = URL(fileURLWithPath: databasePath).absoluteString + "?immutable=1"
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        guard sqlite3_open_v2(uri, &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nil) == SQLITE_OK,
            sqlite3_exec(database, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON", nil, nil, nil)
                == SQLITE_OK
        else { return nil }
        let kind = Self.firstText(SchemaObject.select(SystemTables.config), in: database)
        guard kind == SchemaObject.Kind.table.rawValue else { return nil }
        return Self.firstText(StoreFormat.selectIdentity, in: database)
    }

    /// Returns the first value of a query; `nil` when there is none or it cannot be read.
    private static func firstText(_ sql: String, in database: OpaquePointer?) -> String? {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { return nil }
        return String(cString: text)
    }
}
