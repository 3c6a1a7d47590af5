// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import TableServer

// SyncCore has a type of this name too.
import struct TableServer.StoredRow

extension PostgreSQLRows: RowWriter {
    /// Locks the table's stamp until the commit, so that changes become visible in the order of their stamps. A client that
    /// has seen a stamp has seen all earlier ones.
    func stamp() throws -> Timestamp {
        guard options.locksStamps else { return settings.now }
        let last = try lockStamp()
        // It reads the clock after the wait for the lock.
        let stamp = settings.stamp(after: last)
        try connection.execute(
            "UPDATE serverStamp SET updatedAt = $2::text WHERE tableKey = $1::text",
            [key, stamp.storedText])
        return stamp
    }

    /// Locks the table's stamp until the commit, and returns it.
    @discardableResult private func lockStamp() throws -> String {
        try connection.run("\(lockLimit); \(stampLock)").text(0, 0)
    }

    func firstRevision() throws -> Int64 {
        if settings.restartsVersions { return 1 }
        let result = try connection.execute(
            "SELECT revision FROM serverRevision WHERE tableKey = $1::text AND owner = $2::text",
            [key, owner])
        return (result.rowCount == 0 ? 0 : result.integer(0, 0)) + 1
    }

    @discardableResult func put(_ row: TableRow, replacing old: TableRow?) throws -> StoredRow {
        try addColumns(row.names(notIn: old))
        var stored = StoredRow(row)
        let fields = stored.fields.escapedJSONForPostgreSQL
        guard row.sequence == 0 else {
            try connection.execute(
                """
                UPDATE \(RowTable.rows(key)) SET createdAt = $1::text, updatedAt = $2::text, revision = $3::bigint,
                    deleted = $4::boolean, fields = $5::json
                WHERE sequence = $6::bigint
                """,
                [
                    stored.createdAt, stored.updatedAt, String(stored.revision), String(stored.deleted),
                    fields,
                    String(row.sequence),
                ])
            return stored
        }
        let result = try connection.execute(
            """
            INSERT INTO \(RowTable.rows(key)) (owner, id, createdAt, updatedAt, revision, deleted, fields)
            VALUES ($1::text, $2::text, $3::text, $4::text, $5::bigint, $6::boolean, $7::json)
            RETURNING sequence
            """,
            [
                owner, stored.id, stored.createdAt, stored.updatedAt, String(stored.revision),
                String(stored.deleted), fields,
            ])
        stored.sequence = result.integer(0, 0)
        return stored
    }

    /// Locks the table's stamp, so that an insert of the same id has either read the revision or finds the row.
    func remove(_ row: TableRow) throws {
        try lockStamp()
        try connection.execute(
            """
            INSERT INTO serverRevision AS known VALUES ($1::text, $2::text, $3::bigint)
            ON CONFLICT (tableKey, owner) DO UPDATE SET revision = greatest(known.revision, excluded.revision)
            """, [key, owner, String(row.revision)])
        try connection.execute(
            "DELETE FROM \(RowTable.rows(key)) WHERE sequence = $1::bigint", [String(row.sequence)])
    }

    /// Records the names of new columns, so that later rows use the same spelling. If another transaction has added columns
    /// since this one began, the position is taken, and this one runs again.
    private func addColumns(_ names: [String]) throws {
        for name in names where cachedColumns.add(name) {
            try connection.execute(
                "INSERT INTO serverColumn VALUES ($1::text, $2::bigint, $3::text)",
                [key, String(cachedColumns.count), name])
        }
    }
}
