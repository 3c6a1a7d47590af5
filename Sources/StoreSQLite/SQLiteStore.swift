// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import GRDB
@_spi(StoreAuthor) public import SyncCore

/// A store in an SQLite database: real tables with real columns, readers beside the writer, durable commits.
///
/// The database is an ordinary one that ordinary tools can read. Each declared table is a table of that name, with
/// the id, the system properties and the declared columns; operations, errors and config values are in
/// `MS_TableOperations`, `MS_TableOperationErrors` and `MS_TableConfig`. Columns and tables that are declared later
/// are added when the store opens; nothing is ever dropped but indexes.
public final class SQLiteStore: SyncContextDataSource {
    /// The tables the store was opened with.
    public var catalog: TableCatalog { schema.catalog }
    /// Durable as opened; readers beside the writer, but for a queue; several processes as opened; indexes.
    public let capabilities: StoreCapabilities

    private let schema: StoreSchema
    private let database: any DatabaseWriter
    private let gate = OpenStoreGuard()
    /// What to release at closing; `nil` when the database is the app's.
    private let ownedFile: OwnedFile?
    /// Notices the app's own commits; `nil` when the database is the store's.
    private let appCommits: AppCommits?

    /// The connections, files and locks of a database that the store has opened itself.
    private struct OwnedFile {
        let path: String
        let pool: DatabasePool
        let lock: StoreFileLock
        /// Given out when the file is shared.
        let turn: WriteFileLock?
    }

    /// How much a commit waits for.
    public enum Synchronous: Sendable, Hashable {
        /// A write that returned survives the loss of power.
        case full
        /// Relaxed: a write that returned survives the end of the process, but the last ones may be lost with the
        /// power supply. What is left is a consistent earlier state. Several times faster for small writes.
        case normal
    }

    /// Who may have the file open at the same time.
    public enum Sharing: Sendable, Hashable {
        /// This store alone: opening the file a second time is refused.
        case exclusive
        /// Other stores too, in this process and in others, if all of them open it as shared. Writes wait for those
        /// of the others.
        case shared
    }

    /// Opens the database file, or creates it with mode 0600. Its directory must exist.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition``; ``StoreError`` with the codes
    ///   ``StoreError/Code/cannotOpen``, ``StoreError/Code/alreadyOpen``, ``StoreError/Code/corrupt``,
    ///   ``StoreError/Code/newerFormat`` or ``StoreError/Code/schemaMismatch``.
    public init(
        path: String, tables: [SyncCore.SyncTableDefinition], synchronous: Synchronous = .full,
        sharing: Sharing = .exclusive
    ) throws {
        let catalog = try TableCatalog(tables)
        let file = try StoreFile(path: path)
        let lock = try StoreFileLock(storePath: file.path, isShared: sharing == .shared)
        let turn = sharing == .shared ? try WriteFileLock(storePath: file.path) : nil
        try file.create()
        let pool = try Self.openPool(at: file.path, synchronous: synchronous, turn: turn)
        database = pool
        ownedFile = OwnedFile(path: file.path, pool: pool, lock: lock, turn: turn)
        appCommits = nil
        schema = try Self.prepare(catalog, in: pool, turn: turn, isOwned: true)
        capabilities = StoreCapabilities(
            isDurable: synchronous == .full, hasConcurrentReaders: true, isMultiProcess: sharing == .shared,
            usesIndexes: true)
    }

    /// Keeps the items in a database that the app has open already with GRDB, beside the app's own tables or in them.
    ///
    /// The app goes on using its pool or queue, and closing the store does not close it. How durable commits are is the
    /// setting of the database: GRDB's own for a pool is the relaxed one.
    ///
    /// A table that is there already is used as it is, with its constraints; columns that it lacks are added. It must have
    /// an `id` of text that is unique, and its columns must be able to hold the declared types. Dates are read in every
    /// form that GRDB reads, and written in one that it reads. To queue what the app writes to such a table itself, see
    /// ``enqueueExternalChanges(in:changed:deleted:at:on:)``.
    ///
    /// - Throws: as ``init(path:tables:synchronous:sharing:)``, as far as it applies;
    ///   ``StoreError/Code/schemaMismatch`` for a table that cannot hold the items.
    public init(database: any DatabaseWriter, tables: [SyncCore.SyncTableDefinition]) throws {
        let catalog = try TableCatalog(tables)
        self.database = database
        ownedFile = nil
        schema = try Self.prepare(catalog, in: database, turn: nil, isOwned: false)
        let isDurable = try Self.translatingErrors {
            try database.writeWithoutTransaction { try Connection($0).isDurable }
        }
        capabilities = StoreCapabilities(
            isDurable: isDurable, hasConcurrentReaders: database is DatabasePool, isMultiProcess: false,
            usesIndexes: true)
        let appCommits = AppCommits(tables: catalog.tables.map(\.name))
        database.add(transactionObserver: appCommits, extent: .observerLifetime)
        self.appCommits = appCommits
    }

    /// Runs the body on a snapshot, beside the writer and other readers.
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

    /// Runs the body in a transaction, after those that came before.
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

    /// Calls the handler after each commit of the app's own that has changed the store's tables.
    public func onExternalCommit(_ handler: @escaping @Sendable () -> Void) {
        appCommits?.add(handler)
    }

    /// Takes the lock `PATH.push.lock`, which stores that share the file have in common.
    public func tryLockPush() throws -> (any StorePushLock)? {
        guard let ownedFile, ownedFile.turn != nil else { return UnsharedPushLock() }
        return try gate.pass { () throws -> (any StorePushLock)? in
            do {
                return try StoreFileLock(storePath: ownedFile.path + ".push")
            } catch let error as StoreError where error.code == .alreadyOpen {
                return nil
            }
        }
    }

    /// Waits for running reads and writes, then closes the database, unless it is the app's.
    public func close() throws {
        guard gate.close(), let ownedFile else { return }
        defer {
            ownedFile.turn?.release()
            ownedFile.lock.release()
        }
        try Self.translatingErrors {
            // The last connection to close tidies the log away, which only the writer can.
            ownedFile.pool.invalidateReadOnlyConnections()
            try ownedFile.pool.close()
        }
    }

    private func transaction(_ database: Database) -> SQLiteTransaction {
        SQLiteTransaction(connection: Connection(database), schema: schema)
    }

    /// Passes the body's error on as it is, and GRDB's own in the words of a store.
    private func run<T>(_ access: (_ bodyError: inout (any Error)?) throws -> T) throws -> T {
        try gate.pass {
            var bodyError: (any Error)?
            do { return try access(&bodyError) } catch { throw bodyError ?? StoreError.translated(error) }
        }
    }

    /// Runs the body in a transaction of the one connection that writes.
    private func inTransaction<T>(_ body: (Database) throws -> T) throws -> T {
        guard let appCommits else {
            return try Self.inTransaction(of: database, turn: ownedFile?.turn, body)
        }
        return try database.write { database in
            try appCommits.ignoring { try body(database) }
        }
    }

    private static func inTransaction<T>(
        of database: any DatabaseWriter, turn: WriteFileLock?, _ body: (Database) throws -> T
    ) throws -> T {
        guard let turn else { return try database.write(body) }
        return try database.writeWithoutTransaction { database in
            try turn.hold {
                var result: T?
                try database.inTransaction {
                    result = try body(database)
                    return .commit
                }
                guard let result else { throw StoreError(.inputOutput, "The transaction did not run.") }
                return result
            }
        }
    }

    private static func openPool(
        at path: String, synchronous: Synchronous, turn: WriteFileLock?
    ) throws -> DatabasePool {
        try translatingErrors {
            let settings = ConnectionSettings(isDurable: synchronous == .full)
            func open() throws -> DatabasePool {
                try DatabasePool(path: path, configuration: settings.configuration)
            }
            // Opening writes too, when the log is not there yet.
            let pool = try turn?.hold(open) ?? open()
            try pool.writeWithoutTransaction { try settings.setDurability(of: Connection($0)) }
            return pool
        }
    }

    /// Brings the tables to what is declared.
    private static func prepare(
        _ catalog: TableCatalog, in database: any DatabaseWriter, turn: WriteFileLock?, isOwned: Bool
    ) throws -> StoreSchema {
        try translatingErrors {
            try inTransaction(of: database, turn: turn) { database in
                let connection = Connection(database)
                let format = StoreFormat(connection: connection, ownsFile: isOwned)
                try format.check()
                let schema = try SchemaPreparation(connection: connection, isOwned: isOwned).prepare(catalog)
                try format.stamp()
                return schema
            }
        }
    }

    private static func translatingErrors<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw StoreError.translated(error) }
    }
}

extension SQLiteStore {
    /// Queues changes that the app makes to its tables itself, in the app's own transaction: row and operation are
    /// written together, or not at all.
    ///
    /// ```swift
    /// try await dbPool.write { db in
    ///     try player.update(db)
    ///     try store.enqueueExternalChanges(in: "player", changed: [player.id], on: db)
    /// }
    /// ```
    ///
    /// What the rows were before is not known, so updates send whole items, on the version that the row has. A change of
    /// an item whose operation may be on its way to the server waits behind that. Contexts over this store observe the
    /// commit.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - changed: the ids of rows that were added or changed.
    ///   - deleted: the rows that were deleted, as they were: see ``item(id:in:on:)``.
    ///   - now: when the changes were made.
    ///   - database: the connection on which the app's transaction runs.
    /// - Throws: as ``SyncContext/enqueueExternalChanges(in:changed:deleted:)``; ``StoreError/Code/unsupported``
    ///   outside a transaction. The transaction must then be rolled back.
    public func enqueueExternalChanges(
        in table: String, changed: [String] = [], deleted: [Item] = [], at now: Timestamp = Timestamp(Date()),
        on database: Database
    ) throws {
        guard database.isInsideTransaction else {
            throw StoreError(.unsupported, "Changes can be queued only in the transaction that makes them.")
        }
        try gate.pass {
            let definition = try catalog.table(named: table)
            try transaction(database).enqueueExternalChanges(
                in: definition, changed: changed, deleted: deleted, inFlight: nil, at: now)
        }
    }

    /// The item of that id as it is on a connection of the app's, or `nil`.
    ///
    /// - Throws: ``SyncError/Code/unknownTable``; ``StoreError``.
    public func item(id: String, in table: String, on database: Database) throws -> Item? {
        try gate.pass { try transaction(database).item(id: id, in: table) }
    }
}
