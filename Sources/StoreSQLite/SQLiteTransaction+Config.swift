// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension SQLiteTransaction {
    func configValue(_ key: ConfigKey) throws -> String? {
        let statement = try connection.cached(
            "SELECT \"value\" FROM \"MS_TableConfig\" WHERE \"table\"=? AND \"keyType\"=? AND \"key\"=?")
        try bind(key, to: statement)
        return try statement.firstRow { try $0.text(at: 0) } ?? nil
    }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        let statement = try connection.cached(
            """
            SELECT "key","value" FROM "MS_TableConfig" WHERE "table"=? AND "keyType"=? ORDER BY "key"
            """)
        try statement.bind(table, at: 1)
        try statement.bind(kind.rawValue, at: 2)
        var values: [(key: ConfigKey, value: String)] = []
        try statement.forEachRow { row in
            let key = ConfigKey(table: table, kind: kind, name: try row.text(at: 0) ?? "")
            values.append((key, try row.text(at: 1) ?? ""))
        }
        return values
    }

    func setConfigValue(_ value: String?, for key: ConfigKey) throws {
        guard let value else {
            let statement = try connection.cached(
                "DELETE FROM \"MS_TableConfig\" WHERE \"table\"=? AND \"keyType\"=? AND \"key\"=?",
                writes: true)
            try bind(key, to: statement)
            return try statement.execute()
        }
        let statement = try connection.cached(
            """
            INSERT INTO "MS_TableConfig"("table","keyType","key","value") VALUES(?,?,?,?) \
            ON CONFLICT("table","keyType","key") DO UPDATE SET "value"=excluded."value"
            """, writes: true)
        try bind(key, to: statement)
        try statement.bind(value, at: 4)
        try statement.execute()
    }

    private func bind(_ key: ConfigKey, to statement: SQLStatement) throws {
        try statement.bind(key.table, at: 1)
        try statement.bind(key.kind.rawValue, at: 2)
        try statement.bind(key.name, at: 3)
    }
}

extension SQLiteTransaction {
    /// Returns SQLite's `data_version`, which commits of this connection do not change.
    func externalCommitStamp() throws -> Int64 {
        try connection.cached("PRAGMA data_version").firstRow { $0.int(at: 0) } ?? 0
    }
}
