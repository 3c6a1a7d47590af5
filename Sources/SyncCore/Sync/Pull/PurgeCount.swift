// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Counts the purges of a table in its config, so that running pulls notice one, also of another process.
///
/// A page that was requested before a purge is requested again: it may show rows as they were before changes that the
/// store had, and has no longer. The pull stores no token from then on: it may leave out rows that it has stored before.
enum PurgeCount {
    private static func key(of table: String) -> ConfigKey {
        ConfigKey(table: table, kind: .setting, name: "purges")
    }

    /// Returns the count; `nil` for a table that was never purged.
    static func value(of table: String, in snapshot: some StoreSnapshot) throws -> Int64? {
        try snapshot.configValue(key(of: table)).flatMap(Int64.init)
    }

    fileprivate static func increase(for table: String, in transaction: some StoreTransaction) throws {
        let count = try value(of: table, in: transaction) ?? 0
        try transaction.setConfigValue(String(count &+ 1), for: key(of: table))
    }
}

extension StoreTransaction {
    /// Records that rows of the table are removed by this transaction, and removes delta tokens, so that the next pulls start
    /// over. The records of rows that were removed before end too.
    ///
    /// - Parameter isRemoved: whether to remove the token with this stored text.
    func recordPurge(of table: String, removingTokens isRemoved: (String) -> Bool = { _ in true }) throws {
        try PurgeCount.increase(for: table, in: self)
        for (key, text) in try configValues(in: table, kind: .deltaToken) where isRemoved(text) {
            try setConfigValue(nil, for: key)
        }
        // Not needed: pages that were requested before the purge are requested again.
        for (key, _) in try configValues(in: table, kind: .removedRow) { try setConfigValue(nil, for: key) }
    }
}
