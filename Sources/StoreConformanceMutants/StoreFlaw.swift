// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore
import Synchronization

/// The calls that a mutant replaces. A `nil` property forwards to the base store.
struct StoreFlaw: Sendable {
    /// Runs a body on a snapshot or transaction of the base.
    typealias Run<Access> = (Access) throws -> Void

    let hits: MutantHits
    /// The path that the store was opened at.
    let path: String
    /// The simulated server of a mutant that loses connections.
    let server: MutantServer
    /// The simulated app of a mutant that reports the commits of an app.
    let app: MutantApp
    /// The situation that the store is opened in.
    let opening: Opening

    /// The situation of a store.
    enum Opening { case usual, small, constrained, withApp }

    /// The requirements that the mutant's harness meets with special stores that it simulates; others are those of the base.
    var simulated: Set<StoreRequirement> = []
    /// What the mutant's harness returns for ``/StoreConformance/StoreHarness/hasFilesAtPath``; `nil` is the value of the
    /// base.
    var hasFilesAtPath: Bool?
    /// Whether the store loses the connections of the simulated server.
    var isOnServer = false
    /// Whether the connection faults of the mutant's harness have no effect.
    var hasInertFaults = false
    /// Whether the flaw changes the files at the path, so that it has no effect on a store without files.
    var needsFiles = false

    var openBase:
        (
            @Sendable (any StoreHarness, _ path: String, [SyncTableDefinition]) throws ->
                any SyncContextDataSource
        )?
    var catalog: (@Sendable (TableCatalog) -> TableCatalog)?
    var capabilities: (@Sendable (StoreCapabilities) -> StoreCapabilities)?
    var read: (@Sendable (any SyncContextDataSource, Run<any StoreSnapshot>) throws -> Void)?
    var write: (@Sendable (any SyncContextDataSource, Run<any StoreTransaction>) throws -> Void)?
    var tryLockPush: (@Sendable (any SyncContextDataSource) throws -> (any StorePushLock)?)?
    var tryLockSync: (@Sendable (any SyncContextDataSource) throws -> (any StorePushLock)?)?
    var close: (@Sendable (any SyncContextDataSource) throws -> Void)?
    var onExternalCommit:
        (@Sendable (any SyncContextDataSource, _ handler: @escaping @Sendable () -> Void) -> Void)?

    var item: (@Sendable (any StoreSnapshot, _ id: String, _ table: String) throws -> Item?)?
    var items: (@Sendable (any StoreSnapshot, TableQuery) throws -> QueryResult)?
    var forEachRow:
        (
            @Sendable (
                any StoreSnapshot, TableQuery, _ columns: [String], _ body: (RowValues) throws -> Void
            ) throws -> Int?
        )?
    var operation: (@Sendable (any StoreSnapshot, Int64) throws -> TableOperation?)?
    var operations:
        (
            @Sendable (any StoreSnapshot, _ after: Int64, _ table: String?, _ limit: Int) throws ->
                [TableOperation]
        )?
    var operationsOfItem:
        (@Sendable (any StoreSnapshot, _ id: String, _ table: String) throws -> [TableOperation])?
    var operationCount: (@Sendable (any StoreSnapshot, _ table: String?) throws -> Int)?
    var operationError: (@Sendable (any StoreSnapshot, Int64) throws -> TableOperationError?)?
    var operationErrors: (@Sendable (any StoreSnapshot, _ table: String?) throws -> [TableOperationError])?
    var configValue: (@Sendable (any StoreSnapshot, ConfigKey) throws -> String?)?
    var configValues:
        (
            @Sendable (any StoreSnapshot, _ table: String, ConfigKey.Kind) throws -> [(
                key: ConfigKey, value: String
            )]
        )?

    var insert: (@Sendable (any StoreTransaction, Item, _ table: String) throws -> Bool)?
    var upsert: (@Sendable (any StoreTransaction, [Item], _ table: String) throws -> Void)?
    var deleteIDs: (@Sendable (any StoreTransaction, [String], _ table: String) throws -> Void)?
    var deleteMatching: (@Sendable (any StoreTransaction, TableQuery) throws -> Int)?
    var lastOperationID: (@Sendable (any StoreTransaction) throws -> Int64)?
    var putOperation: (@Sendable (any StoreTransaction, TableOperation) throws -> Void)?
    var removeOperation: (@Sendable (any StoreTransaction, Int64) throws -> Void)?
    var putError: (@Sendable (any StoreTransaction, TableOperationError) throws -> Void)?
    var removeError: (@Sendable (any StoreTransaction, Int64) throws -> Void)?
    var setConfig: (@Sendable (any StoreTransaction, String?, ConfigKey) throws -> Void)?
    var externalCommitStamp: (@Sendable (any StoreTransaction) throws -> Int64)?
}

/// Counts how often a mutant's flaw changed a result. A flaw without effect proves nothing.
public final class MutantHits: Sendable {
    private let hits = Mutex(0)

    /// Creates a counter that starts at 0.
    public init() {}

    /// How often the flaw had an effect.
    public var count: Int { hits.withLock { $0 } }

    func hit() { hits.withLock { $0 += 1 } }

    /// Returns the changed value; counts a hit when it differs from the original.
    func changing<T: ExactlyDescribed>(_ original: T, to changed: T) -> T {
        if original.exactDescription != changed.exactDescription { hit() }
        return changed
    }
}
