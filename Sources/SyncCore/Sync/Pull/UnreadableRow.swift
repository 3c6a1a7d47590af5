// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A row of the server that a pull could not read and did not store, or a stored item that cannot be read as its model.
///
/// The local item, if there is one, stays as it was. A pull with a query ID returns the row again when the
/// server changes it, and when the app changes the table's synced columns; a pull without one returns it
/// every time.
public struct UnreadableRow: Sendable, Hashable {
    /// The row's table.
    public let table: String
    /// The row's id as the server has it; `nil` when it has none, or one that is not text.
    public let id: String?
    /// The column or system property that cannot be read; `nil` for the row as a whole.
    public let column: String?
    /// The reason, as a sentence.
    public let reason: String

    /// Makes a description of a row, for tests of an app's own reports.
    public init(table: String, id: String?, column: String?, reason: String) {
        self.table = table
        self.id = id
        self.column = column
        self.reason = reason
    }
}

/// What a pull does with a row that it cannot read.
public enum UnreadableRowPolicy: String, Sendable, Hashable, CaseIterable {
    /// Logs the row, lists it in ``PullResult/unreadable``, and continues without it.
    case skip
    /// Ends the pull with ``SyncError/Code/pullAborted``; nothing of the row's page is stored.
    case fail
}

extension PageRequest {
    /// Reads the rows of a response. A row with an unreadable field is skipped, or ends the pull, as the settings say.
    ///
    /// - Parameter tooLong: why the fields of the rows are missing; `nil` when they are not.
    func read(
        _ rows: [WireObject], tooLong: SyncError? = nil
    ) throws(SyncError) -> ([PulledRow], [UnreadableRow]) {
        var reader = WireRowReader(dialect: context.client.dialect, definition: pull.definition)
        var read: [PulledRow] = []
        var unreadable: [UnreadableRow] = []
        read.reserveCapacity(rows.count)
        for row in rows {
            let wire = reader.readRecordingProblems(row)
            let isWhole = tooLong == nil || wire.item.system.deleted
            let error = isWhole ? wire.problems.first?.error : tooLong
            let pulled = PulledRow(
                item: wire.item, updatedAtText: wire.updatedAtText, isReadable: error == nil)
            read.append(tooLong == nil ? pulled : pulled.withoutFields)
            guard let error else { continue }
            guard pull.settings.onUnreadableRow == .skip else { throw SyncError.pullAborted(table, error) }
            let id = wire.item.id
            unreadable.append(
                UnreadableRow(
                    table: table, id: id.isEmpty ? nil : id,
                    column: isWhole ? wire.problems.first?.column : nil, reason: error.message))
        }
        for row in unreadable {
            context.emit(.rowUnreadable(table: table), SyncLog.Details(itemID: row.id, column: row.column))
        }
        return (read, unreadable)
    }
}
