// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore
import Synchronization

/// Keeps processes that declare fewer synced columns of a shared file than others from pushing and pulling.
///
/// A push completes an operation without the edits of columns that the process does not declare, and a pull stores their
/// values where the other processes do not read them. The app's own changes keep the values of these columns.
///
/// The last opening determines the stored columns of a table, unless it would only remove some while another store is open.
/// Open stores hold the lock `PATH.columns.lock` shared.
final class SharedColumns: Sendable {
    private let path: String
    private let catalog: TableCatalog
    private let lock = Mutex<StoreFileLock?>(nil)
    private let differences = Mutex(Differences())

    /// How the stored columns differ from the declared ones.
    private struct Differences {
        /// SQLite's number of the last commit of another connection after which the columns were compared.
        var version: Int64?
        /// The tables whose stored columns are not those that this store declares.
        var tables: [String: OtherColumns] = [:]
    }

    init(storePath: String, catalog: TableCatalog) {
        path = storePath + ".columns"
        self.catalog = catalog
    }

    /// Returns the tables, in the opening transaction, whose stored columns this opening does not determine.
    func keptTables(on connection: Connection) throws -> Set<String> {
        var kept: Set<String> = []
        if try isHeldElsewhere {
            for table in catalog.tables where try onlyRemovesColumns(table, on: connection) {
                kept.insert(table.name)
            }
        }
        let held = try StoreFileLock(storePath: path, isShared: true)
        lock.withLock { $0 = held }
        return kept
    }

    private func onlyRemovesColumns(
        _ definition: SyncTableDefinition, on connection: Connection
    ) throws -> Bool {
        let stored = try StoredDefinition.columns(of: definition.name, on: connection)
        let declared = definition.columns.filter { !$0.isLocalOnly }
        return declared.count < stored.count
            && declared.allSatisfy { column in
                stored.contains { $0.name == column.name && $0.type == column.type }
            }
    }

    /// Prepares for the checks of a transaction.
    func beginTransaction(on connection: Connection) throws {
        let version = try connection.int("PRAGMA data_version")
        guard differences.withLock({ $0.version != version }) else { return }
        var tables: [String: OtherColumns] = [:]
        for table in catalog.tables
        where try StoredDefinition.columnsText(of: table.name, on: connection)
            != StoredDefinition.columnsText(of: table)
        {
            tables[table.name] = try OtherColumns(of: table, on: connection)
        }
        differences.withLock { $0 = Differences(version: version, tables: tables) }
    }

    /// - Throws: ``StoreError/Code/alreadyOpen`` for a new attempt, and for a row of the server with a value of a column that
    ///   another process declares.
    func check(_ operation: TableOperation, replacing stored: () throws -> TableOperation?) throws {
        if operation.state == .attempted, otherColumns(of: operation.table) != nil {
            // An edit of the app changes an operation that another process has attempted.
            let stored = try stored()
            guard stored?.state == .attempted, stored?.lastAttempt == operation.lastAttempt else {
                throw conflict(in: operation.table)
            }
        }
        try check([operation.base, operation.serverItem].compactMap(\.self), in: operation.table)
    }

    /// A push removes an operation that has nothing to send, which may have edits of columns that another process declares. An
    /// insert that was never sent is removed with its item, unless a row of the server would take its place.
    ///
    /// - Throws: ``StoreError/Code/alreadyOpen``.
    func checkRemoval(of stored: () throws -> TableOperation?) throws {
        guard differences.withLock({ !$0.tables.isEmpty }), let operation = try stored(),
            otherColumns(of: operation.table) != nil,
            operation.kind != .insert || operation.isAmbiguous || operation.serverItem != nil
        else { return }
        throw conflict(in: operation.table)
    }

    /// Returns the columns of the table, unless they are those that this store declares.
    func otherColumns(of table: String) -> OtherColumns? { differences.withLock { $0.tables[table] } }

    /// - Throws: ``StoreError/Code/alreadyOpen`` for a row with a value of a column that another process declares.
    func check(_ rows: [Item], in table: String) throws {
        guard let others = otherColumns(of: table)?.undeclared, !others.isEmpty,
            case let names = Set(others.map { $0.lowercased() }),
            // Servers ignore case in column names.
            rows.contains(where: { $0.system.undeclared.keys.contains { names.contains($0.lowercased()) } })
        else { return }
        throw conflict(in: table)
    }

    func release() {
        lock.withLock { lock in
            lock?.release()
            lock = nil
        }
    }

    private func conflict(in table: String) -> StoreError {
        StoreError(
            .alreadyOpen,
            """
            Another process has opened the store with other columns of the table '\(table)', so this one cannot push or \
            pull it. Declare the same columns in all processes, and open the store again.
            """)
    }

    private var isHeldElsewhere: Bool {
        get throws {
            do {
                try StoreFileLock(storePath: path).release()
                return false
            } catch {
                guard error.code == .alreadyOpen else { throw error }
                return true
            }
        }
    }
}
