// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The entry point of offline sync: owns a store with its operation queue, and runs push, pull and purge.
///
/// ```swift
/// let store = try SQLiteStore(path: "todo.sqlite", tables: [TodoItem.definition])
/// let context = SyncContext(client: SyncClient(url: url), dataSource: store)
/// let table = context.table("TodoItem")
/// try await table.insert(["text": "Buy milk", "complete": false])
/// try await context.push()
/// ```
///
/// Local reads and writes do not wait for the network or for a running push or pull. A context can be used from any
/// task. Make one context per store.
public final class SyncContext: Sendable {
    /// The client that sends the requests of pushes and pulls.
    public let client: SyncClient
    /// The settings of pushes and conflicts.
    public let settings: SyncSettings

    let store: GroupCommitWriter
    let user: UserBinding
    let purgeStamp = PurgeStamp()
    package let environment: SyncEnvironment
    let commits = CommitFeed()
    let activity: SyncActivity
    let delegate: (any SyncContextDelegate)?
    /// Serializes pushes, so that the server receives operations in push order: see ``PushOrder``.
    let pushMutex = AsyncMutex()
    let pushLock = HeldPushLock()
    let retryBudget = RetryBudget()
    let stalePageGuard = StalePageGuard()
    let unlistedRows = UnlistedRows()
    let tablesToPull = TablesToPull()
    let loggedRows = LoggedRows()
    /// The operations that are being sent.
    let inFlight = InFlightOperations()
    let unanswered = UnansweredOperations()
    let unauthorized = UnauthorizedOperations()
    let externalCommitCheck = ExternalCommitCheck()

    /// Makes a context for an open store.
    ///
    /// - Parameters:
    ///   - client: sends the requests of pushes and pulls.
    ///   - dataSource: the store. During the lifetime of the context nothing else writes to it, except other processes if it
    ///     declares ``StoreCapabilities/isMultiProcess``, and the app if the store is in the app's own database.
    ///   - userID: the user whose rows the store holds: an identifier that the app chooses, such as an account's id, not a
    ///     token. The first call binds the store to it. Every read, write, push and pull of a context for another user
    ///     then throws ``SyncError/Code/storeOfAnotherUser``, until ``purgeAll(pending:)``. `nil` disables the check.
    ///   - delegate: customizes how operations are sent and conflicts are resolved; without one, conflicts are errors.
    ///   - settings: the settings of pushes and conflicts.
    ///   - environment: the injected dependencies: clock, waiting, random generator and executor.
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
        store = GroupCommitWriter(
            dataSource: dataSource, executor: environment.executor, commits: commits,
            stalePageGuard: stalePageGuard)
        dataSource.onExternalCommit { [weak commits] in commits?.send(.unknown) }
        guard let storeWithTriggers = dataSource as? any StoreWithTriggers else { return }
        // Triggers change no operations. The changes of operations are signalled by the writes of this context.
        storeWithTriggers.onOwnCommit { [weak commits] in commits?.send(.unknownItems) }
        storeWithTriggers.usePerformedInserts { [weak inFlight] in inFlight?.performed ?? [] }
    }

    /// Returns the local table of that name. If the store does not have it, every call of the table throws
    /// ``SyncError/Code/unknownTable``.
    public func table(_ name: String) -> SyncTable {
        SyncTable(name: name, context: self)
    }

    /// Ends all observations and closes the store, which keeps the pending operations. A running push or pull sends no further
    /// request, and throws ``SyncError/Code/contextInvalid``.
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

    /// Whether updates contain changed fields only, which dialects that replace whole rows do not support.
    var sendsChangedFieldsOnly: Bool { settings.sendsChangedFieldsOnly && !client.dialect.updatesWholeRow }

    func definition(of table: String) throws(SyncError) -> SyncTableDefinition {
        try store.dataSource.catalog.table(named: table)
    }

    /// Checks that the store is the user's, and that their last purge of it is complete.
    ///
    /// - Parameter isWriting: whether rows may be stored next.
    func confirmStore(forWriting isWriting: Bool) async throws {
        try await user.confirm(in: store)
        try await purgeStamp.confirm(in: store, stampsTables: isWriting)
    }

    /// Reads from the store; wraps errors as ``withStoreErrors(_:)`` does.
    func read<T: Sendable>(_ body: @escaping @Sendable (any StoreSnapshot) throws -> T) async throws -> T {
        try await withStoreErrors {
            try await confirmStore(forWriting: false)
            return try await store.read { [user] snapshot in
                try user.require(in: snapshot)
                return try body(snapshot)
            }
        }
    }

    /// Writes to the store; wraps errors as ``withStoreErrors(_:)`` does.
    ///
    /// - Parameter keepsMarks: whether operations that are marked ahead keep their marks: see ``InFlightOperations``.
    func write<T: Sendable>(
        keepsMarks: Bool = false, _ body: @escaping @Sendable (any StoreTransaction) throws -> T
    ) async throws -> T {
        try await withStoreErrors {
            try await confirmStore(forWriting: true)
            return try await store.write { [user, inFlight] transaction in
                try user.bind(in: transaction)
                if !keepsMarks { try inFlight.takeBackMarks(in: transaction) }
                return try body(transaction)
            }
        }
    }

    /// Writes a local change or a decision about operations, and signals it: see ``CommitFeed/Subject/localChanges``.
    func writeLocally<T: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> T
    ) async throws -> T {
        let value = try await write(body)
        commits.send(.queuedOperations)
        return value
    }

    /// Waits for a write that has begun; wraps errors as ``withStoreErrors(_:)`` does.
    func value<T>(of write: PendingWrite<T>) async throws -> T {
        try await withStoreErrors { try await write.value }
    }

    /// Wraps errors of the store once. Errors of the framework are rethrown unchanged.
    func withStoreErrors<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch let error as SyncError {
            throw error
        } catch let error as TableOperationError {
            throw error
        } catch let error as StoreError where error.code == .closed {
            throw SyncError.contextClosed(cause: error)
        } catch {
            throw SyncError.storeFailure(error)
        }
    }
}
