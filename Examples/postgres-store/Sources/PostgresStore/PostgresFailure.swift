// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// An error of the server.
struct PostgresFailure: Error, CustomStringConvertible {
    let message: String
    var state = ""

    var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }

    /// Returns the error that the store throws.
    func storeError(isLost: Bool) -> StoreError {
        switch state {
        case _ where isLost:
            StoreError(
                .unavailable, "The connection to the server was lost; nothing has changed.", cause: self)
        // The server stops or starts, has too many connections, or asks for another attempt.
        case "57P01", "57P02", "57P03", "53300", "40001", "40P01":
            StoreError(.unavailable, "The server is busy; try again later.", cause: self)
        case "53100", "53200": StoreError(.full, "The server has no space left.", cause: self)
        case "XX001", "XX002": StoreError(.corrupt, "The database is damaged.", cause: self)
        default: StoreError(.inputOutput, "The server refused a statement.", cause: self)
        }
    }
}
