// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The message of a conflict, which distinguishes a deleted row from a changed one.
enum ConflictMessage {
    /// Returns the message for the code of a conflict.
    ///
    /// - Parameters:
    ///   - row: the words for the row. The error of an operation has the id and the table as properties, so that its
    ///     message does not name them.
    ///   - serverItem: the server's row; `nil` if the server has none or did not send it.
    ///   - reason: the server's own message, which can explain why it has not sent the row.
    static func text(
        _ code: SyncError.Code, row: String = "row with this id", serverItem: Item?, reason: String? = nil
    ) -> String {
        let isDeleted = serverItem?.system.deleted == true
        let message =
            switch code {
            case .itemAlreadyOnServer: "The server already has a \(isDeleted ? "deleted " : "")\(row)."
            case .itemNotOnServer: "The server has no \(row)."
            default: "The \(row) was \(isDeleted ? "deleted" : "changed") on the server since it was read."
            }
        guard serverItem == nil, let reason else { return message }
        return "\(message) Its message: \(reason)"
    }
}
