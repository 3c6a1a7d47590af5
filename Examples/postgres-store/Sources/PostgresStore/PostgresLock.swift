// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// A lock, which the server releases when its connection ends.
final class PostgresLock: StorePushLock {
    private let connection: Mutex<PostgresConnection?>
    private let key: String

    init(_ connection: PostgresConnection, key: String) {
        self.connection = Mutex(connection)
        self.key = key
    }

    func release() {
        let connection = connection.withLock { connection in
            defer { connection = nil }
            return connection
        }
        // The server would release the lock some time after the connection has ended.
        _ = try? connection?.run("SELECT pg_advisory_unlock(\(key))")
        connection?.close()
    }

    deinit { release() }
}
