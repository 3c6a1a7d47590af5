// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Takes part in a push: sees each operation before it is sent, and the whole result before the caller does.
///
/// A delegate that is an actor, or belongs to one such as the main actor, is called there. The methods of a class that
/// belongs to the main actor are marked `@MainActor` themselves: the compiler does not infer it here. With
/// ``SyncSettings/maxConcurrentOperations`` above 1 it is called for several operations at a time.
public protocol SyncContextDelegate: Sendable {
    /// Carries out one operation; the default executes it and no more.
    ///
    /// The delegate may change ``PushOperation/item`` and execute any number of times, for example after a
    /// conflict. Pushing the same context from here, or pulling or purging it in a way that pushes first, throws
    /// ``SyncError/Code/invalidOperation``: it would wait for itself.
    ///
    /// - Returns: the item to store as the result; `nil` leaves what ``PushOperation/execute()`` stored, and an operation
    ///   that was never executed pending.
    /// - Throws: whatever should be recorded as the operation's error.
    func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item?

    /// Is told how the push ended. Errors that are resolved in here are not thrown to the caller of the push.
    func syncContext(_ context: SyncContext, didCompletePush result: PushResult) async
}

extension SyncContextDelegate {
    /// Executes the operation.
    public func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item? {
        try await operation.execute()
    }

    /// Does nothing.
    public func syncContext(_ context: SyncContext, didCompletePush result: PushResult) async {}
}
