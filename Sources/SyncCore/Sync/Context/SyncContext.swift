// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Owns the store, the operation queue, push, pull and purge of one set of tables.
///
/// ```swift
/// let store = try SQLiteStore(path: "todo.sqlite", tables: [TodoItem.definition])
/// let context = SyncContext(client: SyncClient(url: url), dataSource: store)
/// let table = context.table("TodoItem")
/// try await table.insert(["text": "Buy milk", "complete": false])
/// try await context.push()
/// ```
///
/// Local reads and writes never wait for the network, nor for a push or pull that is running. A context may be used
/// from any task. Make one context per store.
public final class SyncContext: Sendable {
    /// The client that pushes and pulls go through.
    public let client: SyncClient
    /// How the context pushes.
    public let settings: SyncSettings

    let store: GroupCommitWriter
    let user: UserBinding
    let environment: SyncEnvironment
    let commits = CommitFeed()
    let activity: SyncActivity
    let delegate: (any SyncContextDelegate)?
    /// One push at a time: the order of the queue is the order on the server.
    let pushMutex = AsyncMutex()
    /// Whether a push of this context holds the store's push lock.
    let holdsPushLock = Mutex(false)
    let retryBudget = RetryBudget()
    let acknowledgements = StalePageGuard()
    /// Operations that are being sent at this moment.
    let inFlight = InFlightOperations()

    /// Makes a context over a store that is open.
    ///
    /// - Parameters:
    ///   - client: where pushes and pulls go.
    ///   - dataSource: the store; nobody else may write to it while the context lives, unless it declares
    ///     ``StoreCapabilities/isMultiProcess``.
    ///   - userID: whose rows the store holds: an identity that the app gives, such as an account's id, and never a token.
    ///     The store is bound to it by the first call. A context for another user is refused with
    ///     ``SyncError/Code/storeOfAnotherUser`` by every read, write, push and pull, until ``purgeAll(pending:)``. `nil`
    ///     checks nothing.
    ///   - delegate: decides how operations are sent and conflicts resolved; without one, conflicts are errors.
    ///   - settings: how to push.
    ///   - environment: clock, generator and threads; tests bring their own.
    public init(
        client: SyncClient, dataSource: any SyncContextDataSource, userID: String? = nil,
        delegate: (any SyncContextDelegate)? = nil, settings: SyncSettings = SyncSettings(),
        environment: SyncEnvironment = .live
    ) {
        self.client = client
        self.delegate = delegate
        self.settings = settings
        self.environment = environment
        user = UserBinding(userID: userID)
        activity = SyncActivity(commits: commits)
        store = GroupCommitWriter(dataSource: dataSource, executor: environment.executor, commits: commits)
        dataSource.onExternalCommit { [weak commits] in commits?.send() }
    }

    /// The local face of a table. A name that the store does not know makes every call of it throw
    /// ``SyncError/Code/unknownTable``.
    public func table(_ name: String) -> SyncTable {
        SyncTable(name: name, context: self)
    }

    /// Ends all observations and closes the store. Operations that are pending stay in it.
    ///
    /// - Throws: ``SyncError/Code/storeFailure``.
    public func close() async throws {
        commits.finish()
        let dataSource = store.dataSource
        try await withStoreErrors {
            try await withCheckedThrowingContinuation { continuation in
                environment.executor.write { continuation.resume(with: Result { try dataSource.close() }) }
            }
        }
    }

    /// Whether updates leave out what has not changed; some dialects replace whole rows.
    var sendsChangedFieldsOnly: Bool { settings.sendsChangedFieldsOnly && !client.dialect.updatesWholeRow }

    func definition(of table: String) throws(SyncError) -> SyncTableDefinition {
        try store.dataSource.catalog.table(named: table)
    }

    /// Runs a read of the store; see ``withStoreErrors(_:)``.
    func read<T: Sendable>(_ body: @escaping @Sendable (any StoreSnapshot) throws -> T) async throws -> T {
        try await withStoreErrors {
            try await user.confirm(in: store)
            return try await store.read { [user] snapshot in
                try user.require(in: snapshot)
                return try body(snapshot)
            }
        }
    }

    /// Runs a write of the store; see ``withStoreErrors(_:)``.
    func write<T: Sendable>(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) async throws -> T
    {
        try await withStoreErrors {
            try await user.confirm(in: store)
            return try await store.write { [user] transaction in
                try user.require(in: transaction)
                return try body(transaction)
            }
        }
    }

    /// Waits for a write of the store that has begun; see ``withStoreErrors(_:)``.
    func value<T>(of write: PendingWrite<T>) async throws -> T {
        try await withStoreErrors { try await write.value }
    }

    /// Wraps the store's errors, once; errors of the framework pass as they are.
    func withStoreErrors<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch let error as SyncError {
            throw error
        } catch let error as TableOperationError {
            throw error
        } catch let error as StoreError where error.code == .closed {
            throw SyncError(.contextInvalid, "The sync context is closed.", cause: error)
        } catch {
            throw SyncError(.storeFailure, "The local store failed.", cause: error)
        }
    }
}

/// The ids of operations that are being sent.
final class InFlightOperations: Sendable {
    private let ids = Mutex<Set<Int64>>([])

    var all: Set<Int64> { ids.withLock { $0 } }

    func insert(_ id: Int64) { ids.withLock { _ = $0.insert(id) } }

    func remove(_ id: Int64) { ids.withLock { _ = $0.remove(id) } }
}
