// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Customizes a push: performs each operation, and receives the result before the caller.
///
/// The methods run on the actor that they are isolated to. In a class on the main actor, annotate the methods with
/// `@MainActor`: the compiler does not infer it. With ``SyncSettings/maxConcurrentOperations`` above 1, the delegate is
/// called for several operations concurrently.
public protocol SyncContextDelegate: Sendable {
    /// Performs one operation. The default executes it.
    ///
    /// The delegate can change ``PushOperation/item``, and execute the operation several times, for example after a
    /// conflict. A push of the same context from here, or a pull or purge that pushes first, throws
    /// ``SyncError/Code/invalidOperation``, because it would wait for itself. The push, and all that waits for it, waits for
    /// the delegate: return when the task is cancelled.
    ///
    /// - Returns: the item to store as the result. A column that it lacks has the value of the server's row, because the
    ///   operation is complete. With `nil`, the result of ``PushOperation/execute()`` is kept, and an operation that was not
    ///   executed stays pending. An item is not stored, and the operation stays pending, if the operation waits for another
    ///   one, if the push ends before an execution has a result, and after ``PushOperation/cancelPush()`` without one.
    /// - Throws: the error to record for the operation.
    func syncContext(_ context: SyncContext, perform operation: PushOperation) async throws -> Item?

    /// Receives the result of the push. Errors that are resolved here are not thrown to the caller of the push. It is not
    /// called when the task of the push is cancelled.
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
