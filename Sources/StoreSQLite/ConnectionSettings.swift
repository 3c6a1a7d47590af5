// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

/// The configuration of connections to a database that the store owns.
struct ConnectionSettings {
    let isDurable: Bool

    var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "SQLiteStore"
        configuration.foreignKeysEnabled = false
        // Stores serialize their writes with a file lock, but another tool may lock the database at any time.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            let connection = Connection(database)
            if !database.configuration.readonly, connection.isReadOnly {
                throw StoreError(.cannotOpen, "The database file is read-only; make it writable.")
            }
            try connection.distrustFile()
            try StoreFormat(connection: connection, ownsFile: true).check()
            // Deleted fields are overwritten; systems differ in SQLite's default.
            if !database.configuration.readonly { try connection.execute("PRAGMA secure_delete = ON") }
            // In KiB, allocated on demand. A writer needs more, because random ids touch pages all over the index.
            let cacheSize = database.configuration.readonly ? 4096 : 16_384
            try connection.execute("PRAGMA cache_size = -\(cacheSize)")
        }
        return configuration
    }

    /// Sets the durability of commits. Call it after the pool is open, because GRDB sets its own default there.
    func setDurability(of connection: Connection) throws {
        guard isDurable else { return try connection.execute("PRAGMA synchronous = NORMAL") }
        // On Apple systems, fsync does not flush the drive's cache.
        try connection.execute(
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
    }
}
