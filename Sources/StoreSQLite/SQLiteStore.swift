// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import GRDB
public import SyncCore

/// A store in an SQLite database: real tables with real columns, readers beside the writer, durable commits.
///
/// The database is an ordinary one that ordinary tools can read. Each declared table is a table of that name, with
/// the id, the system properties and the declared columns; operations, errors and config values are in
/// `MS_TableOperations`, `MS_TableOperationErrors` and `MS_TableConfig`. Columns and tables that are declared later
/// are added when the store opens; nothing is ever dropped but indexes.
public final class SQLiteStore: SyncContextDataSource {
    /// The tables the store was opened with.
    public var catalog: TableCatalog { schema.catalog }
    /// Durable as opened; readers beside the writer; several processes as opened; indexes.
    public let capabilities: StoreCapabilities

    private let schema: StoreSchema
    private let pool: DatabasePool
    private let gate = AccessGate()
    /// What to release at closing; `nil` when the pool is the app's.
    private let ownedFile: OwnedFile?

    /// Files and locks of a database that nobody but the store has open here.
    private struct OwnedFile {
        let lock: StoreFileLock
        /// Given out when the file is shared.
        let turn: WriteTurn?
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
        path: String, tables: [SyncCore.TableDefinition], synchronous: Synchronous = .full,
        sharing: Sharing = .exclusive
    ) throws {
        schema = StoreSchema(try TableCatalog(tables))
        let file = try StoreFile(path: path)
        let lock = try StoreFileLock(storePath: file.path, isShared: sharing == .shared)
        let turn = sharing == .shared ? try WriteTurn(storePath: file.path) : nil
        ownedFile = OwnedFile(lock: lock, turn: turn)
        try file.create()
        pool = try Self.openPool(at: file.path, synchronous: synchronous, turn: turn)
        capabilities = StoreCapabilities(
            isDurable: synchronous == .full, hasConcurrentReaders: true, isMultiProcess: sharing == .shared,
            usesIndexes: true)
        try prepareSchema(ownsFile: true)
    }

    /// Keeps the tables in a database that the app has open already, beside the app's own.
    ///
    /// The app goes on using its pool, and may read and observe the store's tables; closing the store does not close
    /// the pool. How durable commits are is the pool's setting: GRDB's own is the relaxed one.
    ///
    /// - Throws: as ``init(path:tables:synchronous:sharing:)``, as far as it applies.
    public init(pool: DatabasePool, tables: [SyncCore.TableDefinition]) throws {
        schema = StoreSchema(try TableCatalog(tables))
        self.pool = pool
        ownedFile = nil
        let synchronous = try Self.translatingErrors {
            try pool.writeWithoutTransaction { try Connection($0).int("PRAGMA synchronous") }
        }
        capabilities = StoreCapabilities(
            isDurable: (synchronous ?? 0) >= 2, hasConcurrentReaders: true, isMultiProcess: false,
            usesIndexes: true)
        try prepareSchema(ownsFile: false)
    }

    /// Runs the body on a snapshot, beside the writer and other readers.
    public func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        try run { bodyError in
            try pool.read { database in
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

    /// Waits for running reads and writes, then closes the database, unless it is the app's.
    public func close() throws {
        guard gate.close(), let ownedFile else { return }
        defer {
            ownedFile.turn?.release()
            ownedFile.lock.release()
        }
        try Self.translatingErrors {
            // The last connection to close tidies the log away, which only the writer can.
            pool.invalidateReadOnlyConnections()
            try pool.close()
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
        guard let turn = ownedFile?.turn else { return try pool.write(body) }
        return try pool.writeWithoutTransaction { database in
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
        at path: String, synchronous: Synchronous, turn: WriteTurn?
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

    private func prepareSchema(ownsFile: Bool) throws {
        try Self.translatingErrors {
            try inTransaction { database in
                let connection = Connection(database)
                let format = StoreFormat(connection: connection, ownsFile: ownsFile)
                try format.check()
                try SchemaPreparation(connection: connection).prepare(schema.catalog)
                try format.stamp()
            }
        }
    }

    private static func translatingErrors<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch { throw StoreError.translated(error) }
    }
}
