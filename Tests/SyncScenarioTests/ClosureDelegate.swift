// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A delegate made of closures.
struct ClosureDelegate: SyncContextDelegate {
    var perform: @Sendable (SyncContext, PushOperation) async throws -> Item? = { try await $1.execute() }
    var complete: @Sendable (SyncContext, PushResult) async -> Void = { _, _ in }

    func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item? {
        try await perform(context, operation)
    }

    func syncContext(_ context: SyncContext, didCompletePush result: PushResult) async {
        await complete(context, result)
    }
}

extension ClosureDelegate {
    /// Executes an operation in conflict again, with the version of the server's row.
    static var retryingWithServerVersion: ClosureDelegate {
        ClosureDelegate(perform: { _, operation in
            do {
                return try await operation.execute()
            } catch let error as TableOperationError {
                guard let server = error.serverItem else { throw error }
                operation.item?.system = server.system
                return try await operation.execute()
            }
        })
    }
}
