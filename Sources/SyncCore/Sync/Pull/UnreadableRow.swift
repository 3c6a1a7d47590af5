// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A row of the server that a pull could not read and did not store.
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
