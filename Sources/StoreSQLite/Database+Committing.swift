// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import SyncCore

extension Database {
    /// Runs the body in a transaction, and commits it.
    func committing<T>(_ body: (Database) throws -> T) throws -> T {
        var result: T?
        try inTransaction {
            result = try body(self)
            return .commit
        }
        guard let result else { throw StoreError(.inputOutput, "The transaction did not run.") }
        return result
    }
}
