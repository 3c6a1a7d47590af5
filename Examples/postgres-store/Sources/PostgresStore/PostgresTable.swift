// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The tables of a store in the database.
struct PostgresTable: Sendable {
    /// The quoted name of the table of keys and values.
    let name: String
    /// The quoted name of the table with the number of commits.
    let commits: String
    let lockKeys: LockKeys
    /// The statements that create the tables unless they exist, and wait for a running write.
    let creation: String
    /// The statement that waits for a running write. Reads that wait do not wait for each other.
    let waitForWrite: String
    /// The statements that remove the tables.
    let removal: String

    /// - Throws: ``/SyncCore/StoreError/Code/cannotOpen`` for a name that is not letters, digits and underscores.
    init(_ name: String) throws {
        guard (1...50).contains(name.utf8.count),
            name.utf8.allSatisfy({ byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            })
        else {
            throw StoreError(
                .cannotOpen,
                "'\(name)' is not a store's name; use up to 50 letters, digits and underscores.")
        }
        self.name = "\"\(name)\""
        commits = "\"\(name)_commits\""
        lockKeys = LockKeys(name)
        waitForWrite = "LOCK TABLE \(self.name) IN ROW SHARE MODE"
        // Two processes that create a table at the same time would fail, so one waits for the other. The last write of an
        // earlier opening may have lost its connection, so this one waits for its commit.
        creation = """
            SELECT pg_advisory_xact_lock(\(lockKeys.creation));
            CREATE TABLE IF NOT EXISTS \(self.name) (key bytea PRIMARY KEY, value bytea NOT NULL);
            CREATE TABLE IF NOT EXISTS \(commits) (number bigint NOT NULL);
            INSERT INTO \(commits) SELECT 0 WHERE NOT EXISTS (SELECT FROM \(commits));
            \(waitForWrite)
            """
        removal = "DROP TABLE IF EXISTS \(self.name); DROP TABLE IF EXISTS \(commits)"
    }

    /// The keys of the advisory locks, as SQL. They differ, because a process holds the push lock and the sync lock for a
    /// long time, and others open the store meanwhile.
    struct LockKeys: Sendable {
        let push: String
        let sync: String
        /// The key of the lock that an opening holds while it creates the tables.
        let creation: String

        fileprivate init(_ name: String) {
            func key(seed: Int) -> String { "hashtextextended('\(name)', \(seed))" }
            (push, sync, creation) = (key(seed: 0), key(seed: 1), key(seed: 2))
        }
    }
}
