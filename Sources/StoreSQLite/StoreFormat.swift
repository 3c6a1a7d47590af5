// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The mark by which a database is recognised as a store's, with the version of its format.
///
/// A file of our own has the mark in its header. In an app's database the header is the app's, and the version is
/// in the table config, under a type of key that no config value has.
struct StoreFormat {
    let connection: Connection
    let ownsFile: Bool

    /// `Sync` in ASCII.
    static let applicationID: Int64 = 0x5379_6E63
    static let currentVersion: Int64 = 2

    /// Refuses what this version cannot use.
    ///
    /// - Throws: ``StoreError/Code/newerFormat``, or ``StoreError/Code/corrupt`` for somebody else's file.
    func check() throws {
        guard try connection.text("PRAGMA encoding") == "UTF-8" else {
            throw StoreError(.corrupt, "The database does not keep its texts as UTF-8.")
        }
        if try connection.int("PRAGMA application_id") == Self.applicationID {
            try check(version: try connection.int("PRAGMA user_version"))
        } else if ownsFile {
            let isNew = try connection.int("PRAGMA schema_version") == 0 || isEmpty
            guard isNew, try connection.int("PRAGMA application_id") == 0,
                try connection.int("PRAGMA user_version") == 0
            else {
                throw StoreError(.corrupt, "The file is an SQLite database, but not one of this store.")
            }
        } else if try hasConfig {
            try check(version: try storedVersion)
        }
    }

    /// Marks a database that has no mark yet, or that of an earlier version.
    func stamp() throws {
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

    private func check(version: Int64?) throws(StoreError) {
        let version = version ?? Self.currentVersion
        guard version <= Self.currentVersion else {
            throw StoreError(
                .newerFormat,
                "The store was written in format \(version); this version reads up to \(Self.currentVersion)."
            )
        }
    }

    private var isEmpty: Bool {
        get throws { try connection.int("SELECT 1 FROM sqlite_master LIMIT 1") == nil }
    }

    private var hasConfig: Bool {
        get throws {
            try connection.int("SELECT 1 FROM sqlite_master WHERE type='table' AND name='MS_TableConfig'")
                != nil
        }
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
