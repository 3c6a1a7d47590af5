// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
@_spi(StoreAuthor) import SyncCore

/// A database that the store opened itself: its connections, files and locks.
struct OwnedDatabase {
    let path: String
    let pool: DatabasePool
    /// Serializes writes across processes; `nil` when the file is not shared.
    let writeLock: WriteFileLock?
    private let fileLock: StoreFileLock

    /// Locks and opens the database file, or creates it.
    init(path: String, isDurable: Bool, isShared: Bool) throws {
        let file = try StoreFile(path: path)
        self.path = file.path
        fileLock = try StoreFileLock(
            storePath: file.path, isShared: isShared,
            advice: "Close it there first, or open it in both places with 'sharing: .shared'.")
        writeLock = isShared ? try WriteFileLock(storePath: file.path) : nil
        try file.create()
        pool = try Self.openPool(at: file.path, isDurable: isDurable, writeLock: writeLock)
    }

    private static func openPool(
        at path: String, isDurable: Bool, writeLock: WriteFileLock?
    ) throws -> DatabasePool {
        try StoreError.translating(at: path) {
            let settings = ConnectionSettings(isDurable: isDurable)
            func open() throws -> DatabasePool {
                try LeftoverLog(databasePath: path).check()
                return try DatabasePool(path: path, configuration: settings.configuration)
            }
            // Opening writes when the write-ahead log does not exist yet.
            let pool = try writeLock?.withLock(open) ?? open()
            try pool.writeWithoutTransaction { try settings.setDurability(of: Connection($0)) }
            return pool
        }
    }

    /// Runs the body in a transaction, while it holds the write lock of a shared file.
    func write<T>(_ body: (Database) throws -> T) throws -> T {
        guard let writeLock else { return try pool.write(body) }
        return try pool.writeWithoutTransaction { database in
            try writeLock.withLock { try database.committing(body) }
        }
    }

    /// Closes the connections, then releases the locks.
    func close() throws {
        defer {
            writeLock?.release()
            fileLock.release()
        }
        try StoreError.translating(at: path) {
            // Closing the last connection deletes the write-ahead log, which only the writer can do.
            pool.invalidateReadOnlyConnections()
            try pool.close()
        }
    }
}
