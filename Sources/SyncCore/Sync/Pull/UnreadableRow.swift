// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A row of the server that a pull could not read, and left out.
///
/// The item on the device, if there is one, stays as it was. The row comes again when the server changes it, and when the
/// app declares the table's columns differently.
public struct UnreadableRow: Sendable, Hashable {
    /// The row's table.
    public let table: String
    /// The row's id as the server has it; `nil` when it has none, or one that is no text.
    public let id: String?
    /// The column or system property that cannot be read; `nil` when it is the row as a whole.
    public let column: String?
    /// Why, as a sentence.
    public let reason: String

    /// Describes a row, for tests of an app's own reports.
    public init(table: String, id: String?, column: String?, reason: String) {
        self.table = table
        self.id = id
        self.column = column
        self.reason = reason
    }
}

/// What a pull does about a row that it cannot read.
public enum UnreadableRowPolicy: String, Sendable, Hashable, CaseIterable {
    /// Leaves the row out, logs it, lists it in ``PullResult/unreadable``, and goes on.
    case skip
    /// Ends the pull with ``SyncError/Code/pullAborted``; nothing of the row's page is stored.
    case fail
}
