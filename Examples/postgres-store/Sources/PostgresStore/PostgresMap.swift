// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
import SyncCore
import Synchronization

/// An ordered map in a table of two columns.
final class PostgresMap: OrderedMap {
    /// The server's indexes support keys of about 2700 bytes.
    let maxKeyLength = 2000

    private let connections: ConnectionPool
    private let table: PostgresTable
    /// Lets one write of this process at a time wait for the server's lock.
    private let writeLock = NSLock()
    private let ownCommits = Mutex<Int64>(0)
    /// The number of commits that lost their connection, and how many of them have certainly ended.
    private let lostCommits = Mutex((all: 0, ended: 0))

    init(parameters: String, table: PostgresTable) throws {
        connections = ConnectionPool(parameters)
        self.table = table
        do {
            try connections.withTransaction("BEGIN") { connection in
                try connection.run(table.creation)
                try connection.commit()
            }
        } catch {
            connections.close()
            throw error
        }
    }

    func read<T>(_ body: (any OrderedMapSnapshot) throws -> T) throws -> T {
        // The server takes the snapshot at the first query, so a query follows at once.
        let beginning = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1"
        let lost = lostCommits.withLock { $0 }
        // The server may still be committing. It keeps the lock of the write until reads see the outcome.
        let wait = lost.all > lost.ended ? "BEGIN; \(table.waitForWrite); COMMIT; " : ""
        return try connections.withTransaction(wait + beginning) { connection in
            lostCommits.withLock { $0.ended = max($0.ended, lost.all) }
            let result = try body(PostgresTransaction(connection: connection, table: table))
            // The read has its result, also if the connection is lost now.
            _ = try? connection.run("ROLLBACK")
            return result
        }
    }

    func write<T>(_ body: (any OrderedMapTransaction) throws -> T) throws -> T {
        try writeLock.withLock {
            // The lock precedes the snapshot: at this isolation level, each statement sees what was committed before it.
            let beginning = "BEGIN ISOLATION LEVEL READ COMMITTED; LOCK TABLE \(table.name) IN EXCLUSIVE MODE"
            let lost = lostCommits.withLock { $0.all }
            return try connections.withTransaction(beginning) { connection in
                // The lost commits had the lock, so they have ended.
                lostCommits.withLock { $0.ended = max($0.ended, lost) }
                let transaction = PostgresTransaction(
                    connection: connection, table: table, ownCommits: ownCommits.withLock { $0 })
                let result = try body(transaction)
                if transaction.hasChanges {
                    try connection.run("UPDATE \(table.commits) SET number = number + 1")
                }
                try commit(on: connection)
                if transaction.hasChanges { ownCommits.withLock { $0 += 1 } }
                return result
            }
        }
    }

    private func commit(on connection: PostgresConnection) throws {
        do { try connection.commit() } catch let error as StoreError where error.code == .outcomeUnknown {
            lostCommits.withLock { $0.all += 1 }
            throw error
        }
    }

    func tryLockPush() throws -> PostgresLock? { try tryLock(table.lockKeys.push) }

    func tryLockSync() throws -> PostgresLock? { try tryLock(table.lockKeys.sync) }

    /// Acquires a lock on a separate connection; the server releases the lock when the connection ends.
    private func tryLock(_ key: String) throws -> PostgresLock? {
        let connection = try connections.connect()
        do {
            let result = try connection.execute(
                "SELECT pg_try_advisory_lock(\(key))::int::bigint")
            if result.number(row: 0, column: 0) == 1 {
                return PostgresLock(connection, key: key)
            }
        } catch {
            connection.close()
            throw error
        }
        connection.close()
        return nil
    }

    func close() { connections.close() }
}

/// The statements of a read or a write.
private final class PostgresTransaction: OrderedMapTransaction {
    private let connection: PostgresConnection
    private let table: PostgresTable
    private let ownCommits: Int64
    private(set) var hasChanges = false

    /// The number of rows of the first page of a scan, and of the largest page.
    private static let pageSizes = (first: 16, last: 256)

    init(connection: PostgresConnection, table: PostgresTable, ownCommits: Int64 = 0) {
        self.connection = connection
        self.table = table
        self.ownCommits = ownCommits
    }

    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        let result = try connection.execute("SELECT value FROM \(table.name) WHERE key = $1", [key])
        return result.rowCount == 0 ? nil : try body(result.value(row: 0, column: 0))
    }

    func scan(
        from start: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        var (start, comparison, size) = (start, ">=", Self.pageSizes.first)
        while true {
            let page = try connection.execute(
                "SELECT key, value FROM \(table.name) WHERE key \(comparison) $1 ORDER BY key LIMIT \(size)",
                [start])
            let count = page.rowCount
            for row in 0..<count {
                let isContinued = try body(page.value(row: row, column: 0), page.value(row: row, column: 1))
                if !isContinued { return }
            }
            guard count == size else { return }
            start = Array(page.value(row: count - 1, column: 0))
            (comparison, size) = (">", min(size * 4, Self.pageSizes.last))
        }
    }

    func put(_ value: [UInt8], for key: [UInt8]) throws {
        hasChanges = true
        _ = try connection.execute(
            "INSERT INTO \(table.name) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value",
            [key, value])
    }

    func insert(_ value: [UInt8], for key: [UInt8]) throws -> Bool {
        let result = try connection.execute(
            "INSERT INTO \(table.name) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING", [key, value])
        let isInserted = result.command == "INSERT 0 1"
        if isInserted { hasChanges = true }
        return isInserted
    }

    func delete(_ key: [UInt8]) throws {
        hasChanges = true
        _ = try connection.execute("DELETE FROM \(table.name) WHERE key = $1", [key])
    }

    /// Returns the number of commits of other openings.
    func externalCommitStamp() throws -> Int64 {
        let result = try connection.execute("SELECT number FROM \(table.commits)")
        return result.number(row: 0, column: 0) - ownCommits
    }
}
