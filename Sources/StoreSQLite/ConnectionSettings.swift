// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

/// How the connections of a store's own database are set up.
struct ConnectionSettings {
    let isDurable: Bool

    var configuration: Configuration {
        var configuration = Configuration()
        configuration.label = "SQLiteStore"
        configuration.foreignKeysEnabled = false
        // Other stores wait for their turn, but a tool may look into the database at any time.
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { database in
            let connection = Connection(database)
            if !database.configuration.readonly, connection.isReadOnly {
                throw StoreError(.cannotOpen, "The database may not be written to.")
            }
            // The file may come from anywhere: nothing in its schema may call functions, no page is trusted.
            try connection.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON")
            try StoreFormat(connection: connection, ownsFile: true).check()
            // In KiB, and used only as far as needed: ids in no order make a writer touch pages all over the index.
            let cacheSize = database.configuration.readonly ? 4096 : 16_384
            try connection.execute("PRAGMA cache_size = -\(cacheSize)")
        }
        return configuration
    }

    /// Sets what a commit waits for. GRDB sets its own choice when it opens the pool, so this comes after.
    func setDurability(of connection: Connection) throws {
        guard isDurable else { return try connection.execute("PRAGMA synchronous = NORMAL") }
        // On Apple systems a plain sync stops at the drive's cache.
        try connection.execute(
            "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
    }
}
