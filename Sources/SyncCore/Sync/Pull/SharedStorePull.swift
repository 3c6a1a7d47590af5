// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Keeps a pull's page from taking back what another process has stored since the pull began.
///
/// A page may show a row as it was before the other process's push was applied; the notes that a context keeps of its own
/// pushes and pulls do not have that. The rows in the store tell: versions that pushes have replaced, and later dates.
/// For rows that are gone, a note stays in the table config for a while.
struct SharedStorePull: Sendable {
    /// Whether another process has committed since the pull began.
    let othersHaveCommitted: Bool
    let now: Timestamp

    /// How long a note of a row that is gone is kept: longer than any page is on its way.
    private static let noteLifetime = Duration.seconds(3600)

    /// Removes old notes.
    ///
    /// - Returns: the stamp to compare with when pages are stored.
    static func begin(
        in transaction: any StoreTransaction, table: String, at now: Timestamp
    ) throws -> Int64 {
        for (key, value) in try transaction.configValues(in: table, kind: .removedRow) {
            let isRecent = Note(value).map {
                !$0.notedAt.isEarlier(than: now.advanced(by: .zero - noteLifetime))
            }
            if isRecent != true { try transaction.setConfigValue(nil, for: key) }
        }
        return try transaction.externalCommitStamp()
    }

    init(since stamp: Int64, in transaction: any StoreTransaction, at now: Timestamp) throws {
        othersHaveCommitted = try transaction.externalCommitStamp() != stamp
        self.now = now
    }

    /// Whether the store has had a later state of the row than this one.
    func isOutdated(
        _ row: Item, local: Item?, table: String, in transaction: any StoreTransaction
    ) throws -> Bool {
        guard othersHaveCommitted else { return false }
        guard let local else {
            let key = Self.key(id: row.id, table: table)
            guard let note = try transaction.configValue(key).flatMap(Note.init) else { return false }
            guard let removed = note.updatedAt, let updatedAt = row.system.updatedAt else { return true }
            return !removed.isEarlier(than: updatedAt)
        }
        if let version = row.system.version,
            local.system.supersededVersions.contains(where: version.hasSameBytes), !row.isLater(than: local)
        {
            return true
        }
        return row.system.version != local.system.version && local.isLater(than: row)
    }

    /// Notes that a row is gone, with the last state of it that was known.
    static func noteRemoval(
        of row: Item?, id: String, table: String, at now: Timestamp, in transaction: any StoreTransaction
    ) throws {
        let note = Note(updatedAt: row?.system.updatedAt, notedAt: now)
        try transaction.setConfigValue(note.text, for: key(id: id, table: table))
    }

    private static func key(id: String, table: String) -> ConfigKey {
        ConfigKey(table: table, kind: .removedRow, name: id)
    }

    /// The date of the state that was removed, and when it was, by the client's clock.
    private struct Note {
        let updatedAt: Timestamp?
        let notedAt: Timestamp

        init(updatedAt: Timestamp?, notedAt: Timestamp) {
            (self.updatedAt, self.notedAt) = (updatedAt, notedAt)
        }

        init?(_ text: String) {
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 2, let notedAt = Timestamp(String(parts[0])) else { return nil }
            self.init(updatedAt: Timestamp(String(parts[1])), notedAt: notedAt)
        }

        var text: String { "\(notedAt) \(updatedAt?.description ?? "")" }
    }
}
