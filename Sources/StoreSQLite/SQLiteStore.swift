// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import GRDB
public import Logging
@_spi(StoreAuthor) public import SyncCore
import Synchronization

/// A store in an SQLite database: typed columns, concurrent readers, durable commits.
///
/// Any SQLite tool can read the database. Each declared table is an SQL table of the same name with the id, the system
/// properties and the declared columns; operations, errors and config values are in `MS_TableOperations`,
/// `MS_TableOperationErrors` and `MS_TableConfig`. Opening the store adds newly declared tables and columns; it drops
/// nothing except indexes.
public final class SQLiteStore: SyncContextDataSource {
    /// The tables the store was opened with.
    public var catalog: TableCatalog { schema.catalog }
    /// Indexes; durability and multiple processes as opened; concurrent readers unless the database is a queue.
    public let capabilities: StoreCapabilities

    private let schema: StoreSchema
    private let decodedOperations = DecodedOperations()
    private let database: any DatabaseWriter
    let openGuard = OpenStoreGuard()
    /// The database to close with the store; `nil` when it belongs to the app.
    private let ownedDatabase: OwnedDatabase?
    /// `nil` unless other stores may open the file.
    private let sharedColumns: SharedColumns?
    /// Observes the commits to the app's database; `nil` when the store owns the database.
    private let appCommits: AppCommits?
    package let references: [String: Set<String>]
    /// Returns the ids of the inserts that a delegate is performing now.
    let performedInserts = Mutex<(@Sendable () -> Set<Int64>)?>(nil)

    /// The durability of a commit.
    public enum Synchronous: Sendable, Hashable {
        /// A write that has returned survives power loss.
        case full
        /// Relaxed: a write that has returned survives the end of the process, but power loss may undo the last
        /// writes and leave a consistent earlier state. Several times faster for small writes.
        case normal
    }

    /// Whether other stores may open the file at the same time.
    public enum Sharing: Sendable, Hashable {
        /// Only this store: opening the file a second time throws ``StoreError/Code/alreadyOpen``.
        case exclusive
        /// Other stores too, in this and other processes, if all of them open it as shared. Their writes are
        /// serialized.
        ///
        /// All processes declare the same synced columns. A process that declares fewer of a table, while another one is open
        /// that declares them, or that was open before another one has added columns, should only read the table. Its pushes
        /// and pulls of the table, and its decisions about failed changes, fail with ``StoreError/Code/alreadyOpen``, and a push
        /// ends at the first operation of the table. Its changes of items are kept, and sent by the others, without the columns
        /// that it does not declare.
        ///
        /// Local-only columns may differ, but no process may sync a column that is local-only in another one. If a deletion is
        /// discarded, the item has its local-only columns again only if the process that discards it declares them.
        ///
        /// A process that opens the file alone, with fewer columns, removes the others from the synced columns like a later
        /// version of the app: its pushes drop their unsent edits.
        case shared
    }

    /// Opens the database file; creates it with mode 0600 if it does not exist. Its directory must exist.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition``; ``StoreError`` with the codes
    ///   ``StoreError/Code/cannotOpen``, ``StoreError/Code/alreadyOpen``, ``StoreError/Code/corrupt``,
    ///   ``StoreError/Code/newerFormat``, ``StoreError/Code/schemaMismatch``, or ``StoreError/Code/unsupported`` for a table of more
    ///   than 1993 columns.
    public init(
        path: String, tables: [SyncCore.SyncTableDefinition], synchronous: Synchronous = .full,
        sharing: Sharing = .exclusive
    ) throws {
        let catalog = try TableCatalog(tables)
        let owned = try OwnedDatabase(
            path: path, isDurable: synchronous == .full, isShared: sharing == .shared)
        database = owned.pool
        ownedDatabase = owned
        (appCommits, references) = (nil, [:])
        let sharedColumns =
            sharing == .shared ? SharedColumns(storePath: owned.path, catalog: catalog) : nil
        self.sharedColumns = sharedColumns
        schema = try StoreError.translating(at: owned.path) {
            try owned.write {
                try Self.prepare(catalog, in: $0, isOwned: true, sharedColumns: sharedColumns)
            }
        }
        capabilities = StoreCapabilities(
            isDurable: synchronous == .full, hasConcurrentReaders: true, isMultiProcess: sharing == .shared,
            usesIndexes: true)
    }

    /// Stores the items in a GRDB database that the app has opened, in new tables or in the app's own.
    ///
    /// The app continues to use its pool or queue, and closing the store does not close it. The database's settings
    /// determine the durability of commits; GRDB's default for a pool is relaxed.
    ///
    /// An existing table is used as it is, with its constraints; missing columns are added. The table needs a unique
    /// TEXT column `id`, and its columns must be able to store the declared types. Dates are read in every form that
    /// GRDB reads, and written in a form that GRDB reads; JSON is plain. To enqueue the app's own changes of such a table,
    /// see ``enqueueExternalChanges(in:changed:deleted:at:on:)``.
    ///
    /// The app opens one store on the database, in one process: the store cannot detect another one, and two that push at
    /// the same time send changes twice.
    ///
    /// - Parameters:
    ///   - database: the app's pool or queue.
    ///   - tables: the tables to sync.
    ///   - logger: receives a warning for each item that the app's constraints refuse when the columns of its table change.
    ///     The item is kept as it is.
    /// - Throws: as ``init(path:tables:synchronous:sharing:)`` where applicable;
    ///   ``StoreError/Code/schemaMismatch`` for a table that cannot store the items.
    public init(
        database: any DatabaseWriter, tables: [SyncCore.SyncTableDefinition], logger: Logger? = nil
    ) throws {
        let catalog = try TableCatalog(tables)
        self.database = database
        ownedDatabase = nil
        sharedColumns = nil
        (schema, references) = try StoreError.translating {
            try database.write { database in
                (
                    try Self.prepare(catalog, in: database, isOwned: false, logger: logger),
                    try Connection(database).references(between: catalog.tables.map(\.name))
                )
            }
        }
        let isDurable = try StoreError.translating {
            try database.writeWithoutTransaction { try Connection($0).isDurable }
        }
        capabilities = StoreCapabilities(
            isDurable: isDurable, hasConcurrentReaders: database is DatabasePool, isMultiProcess: false,
            usesIndexes: true)
        let appCommits = AppCommits(tables: catalog.tables.map(\.name))
        database.add(transactionObserver: appCommits, extent: .observerLifetime)
        self.appCommits = appCommits
    }

    /// Runs the body on a snapshot, concurrently with the writer and other readers.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try run { bodyError in
            try database.read { database in
                do { return try body(transaction(database)) } catch {
                    bodyError = error
                    throw error
                }
            }
        }
    }

    /// Runs the body in a transaction, after the transactions queued before it.
    public func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
        try run { bodyError in
            try inTransaction { database in
                do { return try body(transaction(database)) } catch {
                    bodyError = error
                    throw error
                }
            }
        }
    }

    /// Calls the handler after each commit of the app to the store's tables in its database.
    public func onExternalCommit(_ handler: @escaping @Sendable () -> Void) {
        appCommits?.add { isOwn in if !isOwn { handler() } }
    }

    /// Acquires the lock `PATH.push.lock`, which all stores on a shared file use.
    public func tryLockPush() throws -> (any StorePushLock)? { try tryLock(".push") }

    /// Acquires the lock `PATH.sync.lock`, which all stores on a shared file use.
    public func tryLockSync() throws -> (any StorePushLock)? { try tryLock(".sync") }

    private func tryLock(_ suffix: String) throws -> (any StorePushLock)? {
        try openGuard.run { () throws -> (any StorePushLock)? in
            guard let ownedDatabase, ownedDatabase.writeLock != nil else { return UnsharedPushLock() }
            do {
                return try StoreFileLock(storePath: ownedDatabase.path + suffix)
            } catch let error as StoreError where error.code == .alreadyOpen {
                return nil
            }
        }
    }

    /// Waits for running reads and writes, then closes the database unless it belongs to the app.
    public func close() throws {
        try openGuard.close {
            guard let ownedDatabase else { return }
            defer { sharedColumns?.release() }
            try ownedDatabase.close()
        }
    }

    func transaction(_ database: Database) -> SQLiteTransaction {
        SQLiteTransaction(
            connection: Connection(database), schema: schema, decoded: decodedOperations,
            sharedColumns: sharedColumns)
    }

    /// Rethrows the body's error; converts GRDB's errors to store errors. An error of a damaged file gets its path.
    private func run<T>(_ access: (_ bodyError: inout (any Error)?) throws -> T) throws -> T {
        try openGuard.run {
            var bodyError: (any Error)?
            do { return try access(&bodyError) } catch {
                throw StoreError.naming(ownedDatabase?.path, in: bodyError ?? StoreError.translated(error))
            }
        }
    }

    /// Runs the body in a transaction of the writer connection.
    private func inTransaction<T>(_ body: (Database) throws -> T) throws -> T {
        if let ownedDatabase {
            return try ownedDatabase.write { database in
                try sharedColumns?.beginTransaction(on: Connection(database))
                return try body(database)
            }
        }
        guard let appCommits else { return try database.write(body) }
        return try database.writeWithoutTransaction { try appCommits.write(on: $0, body) }
    }

    /// Checks the format of the database and migrates its tables to the declared ones.
    private static func prepare(
        _ catalog: TableCatalog, in database: Database, isOwned: Bool, logger: Logger? = nil,
        sharedColumns: SharedColumns? = nil
    ) throws -> StoreSchema {
        let connection = Connection(database)
        // An app's pool can have opened the file of a store.
        let isStoreFile =
            try isOwned || connection.int("PRAGMA application_id") == StoreFormat.applicationID
        let format = StoreFormat(connection: connection, ownsFile: isStoreFile)
        try format.check()
        let schema = try SchemaPreparation(
            connection: connection, isOwned: isOwned, isStoreFile: isStoreFile, logger: logger,
            sharedColumns: sharedColumns
        ).prepare(catalog)
        try format.stamp()
        return schema
    }
}

extension SQLiteStore: StoreWithTriggers {
    package var isInAppDatabase: Bool { ownedDatabase == nil }

    /// Calls the handler after each commit of the store to its tables in the app's database.
    package func onOwnCommit(_ handler: @escaping @Sendable () -> Void) {
        appCommits?.add { isOwn in if isOwn { handler() } }
    }

    package func usePerformedInserts(_ ids: @escaping @Sendable () -> Set<Int64>) {
        performedInserts.withLock { $0 = ids }
    }
}
