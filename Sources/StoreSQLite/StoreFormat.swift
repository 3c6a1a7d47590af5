// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// Identifies a store's database and the version of its format.
///
/// A file that the store owns has both in its header. In an app's database the header belongs to the app, and the
/// version is in the table config, under a key type that no config value uses.
struct StoreFormat {
    let connection: Connection
    let ownsFile: Bool

    /// `Sync` in ASCII.
    static let applicationID: Int64 = 0x5379_6E63
    /// Version 2 added undeclared values, version 3 the column of operations for their rows.
    static let currentVersion: Int64 = 3

    /// Checks that this version can use the database.
    ///
    /// - Throws: ``StoreError/Code/newerFormat``; ``StoreError/Code/corrupt`` for another program's file, and for a system
    ///   table that is a view or a virtual table.
    func check() throws {
        guard try connection.text("PRAGMA encoding") == "UTF-8" else {
            throw StoreError(.corrupt, "The database does not use the UTF-8 encoding.")
        }
        if try connection.int("PRAGMA application_id") == Self.applicationID {
            try check(version: try connection.int("PRAGMA user_version"))
        } else if ownsFile {
            let isNew = try connection.int("PRAGMA schema_version") == 0 || isEmpty
            guard isNew, try connection.int("PRAGMA application_id") == 0,
                try connection.int("PRAGMA user_version") == 0
            else {
                throw StoreError(
                    .corrupt,
                    "The file is an SQLite database that was not created by this store; choose another path.")
            }
        } else if try hasConfig {
            try check(version: try storedVersion)
        }
        for name in SystemTables.names { _ = try SchemaObject.hasTable(name, on: connection) }
    }

    /// A random text that distinguishes this file from others that a store created; `nil` in files of older versions.
    var identity: String? {
        get throws { try hasConfig ? connection.text(Self.selectIdentity) : nil }
    }

    static let selectIdentity =
        """
        SELECT "value" FROM "MS_TableConfig" WHERE "table"='' AND "keyType"='format' AND "key"='identity'
        """

    /// Stores the current version and the file's identity, unless they are stored already.
    func stamp() throws {
        if ownsFile, try identity == nil {
            try connection.execute(
                """
                INSERT INTO "MS_TableConfig"("table","keyType","key","value")
                VALUES('', 'format', 'identity', hex(randomblob(16)))
                """)
        }
        if try ownsFile || connection.int("PRAGMA application_id") == Self.applicationID {
            guard try connection.int("PRAGMA user_version") != Self.currentVersion else { return }
            try connection.execute(
                """
                PRAGMA application_id = \(Self.applicationID);
                PRAGMA user_version = \(Self.currentVersion)
                """)
        } else if try storedVersion != Self.currentVersion {
            try connection.execute(
                """
                INSERT INTO "MS_TableConfig"("table","keyType","key","value")
                VALUES('', 'format', 'version', '\(Self.currentVersion)')
                ON CONFLICT("table","keyType","key") DO UPDATE SET "value"=excluded."value"
                """)
        }
    }

    /// Checks that the database has a store of the current version, and returns the version.
    ///
    /// - Throws: as ``check()``; ``StoreError/Code/corrupt`` when the database has no store,
    ///   ``StoreError/Code/unsupported`` when the store is older.
    func requireCurrentVersion() throws -> Int {
        try check()
        guard try hasConfig,
            let version = try ownsFile ? connection.int("PRAGMA user_version") : storedVersion
        else { throw StoreError(.corrupt, "The SQLite database contains no store of a sync context.") }
        guard version == Self.currentVersion else { throw StoreError.olderFormat(version) }
        return Int(version)
    }

    private func check(version: Int64?) throws(StoreError) {
        let version = version ?? Self.currentVersion
        guard version <= Self.currentVersion else {
            throw StoreError(
                .newerFormat,
                "The store has format \(version); this version supports up to \(Self.currentVersion). Update the app."
            )
        }
    }

    private var isEmpty: Bool {
        get throws { try connection.int("SELECT 1 FROM sqlite_master LIMIT 1") == nil }
    }

    private var hasConfig: Bool {
        get throws { try SchemaObject.hasTable(SystemTables.config, on: connection) }
    }

    private var storedVersion: Int64? {
        get throws {
            try connection.int(
                """
                SELECT CAST("value" AS INTEGER) FROM "MS_TableConfig"
                WHERE "table"='' AND "keyType"='format' AND "key"='version'
                """)
        }
    }
}
