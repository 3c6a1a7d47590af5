// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The message of a conflict: names the row, and distinguishes a deleted row from a changed one.
enum ConflictMessage {
    /// Returns the message for the code of a conflict.
    ///
    /// - Parameter serverItem: the server's row; `nil` if the server has none or did not send it.
    static func text(
        _ code: SyncError.Code, itemID: String, table: String, serverItem: Item?
    ) -> String {
        let row = "row '\(itemID)' in '\(table)'"
        let isDeleted = serverItem?.system.deleted == true
        return switch code {
        case .itemAlreadyOnServer where isDeleted: "The server already has a deleted \(row)."
        case .itemAlreadyOnServer: "The server already has a \(row)."
        case .itemNotOnServer: "The server has no \(row)."
        default: "The \(row) was \(isDeleted ? "deleted" : "changed") on the server since it was read."
        }
    }
}
