// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// How the server's row differs from the row that an operation was made on.
enum ConflictReason: Sendable, Hashable {
    /// The server already has the row: see ``InsertConflict``.
    case rowExists
    /// The server does not have the row.
    case rowMissing
    /// The server's row has another version.
    case versionMismatch

    /// The HTTP status that stands for this conflict; recorded when the client itself found it.
    var status: Int {
        switch self {
        case .rowExists: 409
        case .rowMissing: 404
        case .versionMismatch: 412
        }
    }

    /// Returns the code of the operation's error.
    func code(for kind: TableOperation.Kind) -> SyncError.Code {
        switch self {
        case .rowExists: InsertConflict.code(for: kind)
        case .rowMissing: .itemNotOnServer
        case .versionMismatch: .preconditionFailed
        }
    }
}
