// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension SyncContext {
    /// Returns the local table of a model.
    ///
    /// If the store was opened without the model, every call of the table throws ``SyncError/Code/unknownTable``.
    public func table<Model: SyncModel>(_ model: Model.Type) -> ModelTable<Model> {
        ModelTable(context: self)
    }
}

/// The local table of one model: reads and writes the store, and adds an operation to the queue for every insert, every delete,
/// and every update that changes a synced column.
///
/// When a write returns, the item and its operation are as durable as the store: see
/// ``/SyncCore/StoreCapabilities/isDurable``. No read or write waits for the network.
public struct ModelTable<Model: SyncModel>: Sendable {
    let context: SyncContext

    /// The same table without the model.
    public var raw: SyncTable { context.table(Model.tableName) }
}

/// Runs the body, whose errors are all of type ``SyncError``.
func withSyncErrors<T>(_ body: () async throws -> T) async throws(SyncError) -> T {
    do {
        return try await body()
    } catch let error as SyncError {
        throw error
    } catch {
        throw .unexpected(error)
    }
}

extension SyncError {
    /// Returns the error of a call that failed with an error of another type, which is a bug of this package.
    static func unexpected(_ error: any Error) -> SyncError {
        SyncError(.internalError, "An unexpected error: \(error.textWithoutURL)", cause: error)
    }
}
