// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The message of an operation that the server refuses.
enum RefusalMessage {
    /// - Parameters:
    ///   - message: the server's own message.
    ///   - url: the client's URL, to name it in the message of a missing table.
    static func text(
        _ code: SyncError.Code, status: Int, message: String?, table: String, below url: URL? = nil
    ) -> String {
        if code == .tableNotOnServer { return SyncError.tableNotOnServer(table, below: url).message }
        return message ?? "The server refused the operation with status \(status)."
    }
}
