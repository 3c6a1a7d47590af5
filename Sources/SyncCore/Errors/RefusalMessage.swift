// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The message of an operation that the server refuses.
enum RefusalMessage {
    /// - Parameter message: the server's own message.
    static func text(_ code: SyncError.Code, status: Int, message: String?, table: String) -> String {
        if code == .tableNotOnServer { return SyncError.tableNotOnServer(table).message }
        return message ?? "The server refused the operation with status \(status)."
    }
}
