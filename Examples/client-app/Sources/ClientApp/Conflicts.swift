// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension ConflictResolver {
    /// A note that is done on the device is done in the server's row too; otherwise, or if it was deleted, the server's row wins.
    static let doneWins = ConflictResolver { conflict in
        guard var item = conflict.serverItem, !item.system.deleted, isDone(conflict.clientItem) else {
            return .keepServer
        }
        item["isDone"] = true
        return .merge(item)
    }

    private static func isDone(_ item: Item?) -> Bool {
        item?["isDone"] == true
    }
}

/// Counts the operations that pushes sent, and those that failed.
@MainActor final class PushCounter: SyncContextDelegate {
    private(set) var sent = 0
    private(set) var failed = 0

    @MainActor func syncContext(
        _ context: SyncContext, perform operation: PushOperation
    ) async throws -> Item? {
        let item = try await operation.execute()
        sent += 1
        return item
    }

    @MainActor func syncContext(_ context: SyncContext, didCompletePush result: PushResult) async {
        failed += result.errors.count
    }
}
