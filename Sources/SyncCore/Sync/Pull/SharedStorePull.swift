// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Keeps a page from replacing rows that another process has stored since the pull began.
///
/// Such a page may show a row as it was before the other process pushed it, and ``StalePageGuard`` records
/// only the stores of the same process. This type detects it from the stored rows: by the versions that pushes
/// have replaced, and by `updatedAt`. For removed rows, the table config keeps a record for a limited time.
struct SharedStorePull: Sendable {
    /// Whether another process has committed since the pull began.
    private let othersHaveCommitted: Bool
    let now: Timestamp

    /// How long the record of a removed row is kept: longer than any request takes.
    private static let recordLifetime = Duration.seconds(3600)
    /// How many records are kept whatever their age: after the clock was set, it shows nothing.
    private static let keptRecords = 100

    /// Removes expired records, if there are many.
    ///
    /// - Returns: the store's commit stamp, to compare with when pages are stored.
    static func begin(
        in transaction: any StoreTransaction, table: String, at now: Timestamp
    ) throws -> Int64 {
        let records = try transaction.configValues(in: table, kind: .removedRow)
        for (key, value) in records where records.count > keptRecords {
            let isRecent = RemovedRow(value).map {
                !$0.recordedAt.isEarlier(than: now.advanced(by: .zero - recordLifetime))
            }
            if isRecent != true { try transaction.setConfigValue(nil, for: key) }
        }
        return try transaction.externalCommitStamp()
    }

    init(since stamp: Int64, in transaction: any StoreTransaction, at now: Timestamp) throws {
        othersHaveCommitted = try transaction.externalCommitStamp() != stamp
        self.now = now
    }

    /// Whether the page was requested so long ago that the record of a row removed since then may have expired.
    func isTooOld(_ page: PulledPage) -> Bool {
        let age = now.since(page.requestedAt)
        return othersHaveCommitted && (age < .zero || age > Self.recordLifetime / 2)
    }

    /// Compares a row of a page with the state that the store has, or had before the row was removed.
    func age(
        of row: Item, in definition: SyncTableDefinition, _ transaction: any StoreTransaction
    ) throws -> StalePageGuard.Age {
        guard othersHaveCommitted else { return .current }
        let table = definition.name
        let operation = try transaction.operations(forItem: row.id, in: table).first
        guard let known = try knownState(of: row.id, in: definition, with: operation, transaction) else {
            // Of an item that the app has deleted and inserted again, only the version of its pending change is known.
            if let version = operation?.version, let other = row.system.version,
                !version.hasSameBytes(as: other)
            {
                return .unknown
            }
            let key = Self.key(id: row.id, table: table)
            guard let removed = try transaction.configValue(key).flatMap(RemovedRow.init) else {
                // The item of a server without versions.
                let local = operation == nil ? try transaction.readableItem(id: row.id, in: definition) : nil
                return local?.isLater(than: row) == true ? .stale : .current
            }
            let last = Item(id: row.id, system: SystemProperties(updatedAt: removed.updatedAt))
            return row.isLater(than: last) ? .current : last.isLater(than: row) ? .stale : .unknown
        }
        if known.hasSuperseded(row) { return .stale }
        if row.isSameState(as: known) { return .current }
        if known.isLater(than: row) { return .stale }
        return row.isLater(than: known) ? .current : .unknown
    }

    /// Returns the newest state of the server's row that the store has; `nil` if it has none.
    private func knownState(
        of id: String, in definition: SyncTableDefinition, with operation: TableOperation?,
        _ transaction: any StoreTransaction
    ) throws -> Item? {
        if let row = operation?.newestServerItem { return row }
        let local = try transaction.readableItem(id: id, in: definition) ?? operation?.deletedItem
        return local?.system.isOfServer == true ? local : nil
    }

    /// Records that a row was removed, with its last known state.
    static func recordRemoval(
        of row: Item?, id: String, table: String, at now: Timestamp, in transaction: any StoreTransaction
    ) throws {
        let key = key(id: id, table: table)
        let removed = RemovedRow(updatedAt: row?.system.updatedAt, recordedAt: now)
        // A pull may receive the same tombstone each time.
        if let updatedAt = removed.updatedAt,
            try transaction.configValue(key).flatMap(RemovedRow.init)?.updatedAt == updatedAt
        {
            return
        }
        try transaction.setConfigValue(removed.text, for: key)
    }

    private static func key(id: String, table: String) -> ConfigKey {
        ConfigKey(table: table, kind: .removedRow, name: id)
    }

    /// The record of a removed row: its last `updatedAt`, and when it was removed by the client's clock.
    private struct RemovedRow {
        let updatedAt: Timestamp?
        let recordedAt: Timestamp

        init(updatedAt: Timestamp?, recordedAt: Timestamp) {
            (self.updatedAt, self.recordedAt) = (updatedAt, recordedAt)
        }

        init?(_ text: String) {
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 2, let recordedAt = Timestamp(String(parts[0])) else { return nil }
            self.init(updatedAt: Timestamp(String(parts[1])), recordedAt: recordedAt)
        }

        var text: String { "\(recordedAt) \(updatedAt?.description ?? "")" }
    }
}
