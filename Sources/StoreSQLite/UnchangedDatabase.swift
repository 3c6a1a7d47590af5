// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import GRDBSQLite
import SyncCore

/// A database that is read without changing or creating a file, also while other processes write to it.
///
/// An app that has the database open has a write-ahead log and its index. SQLite then reads through both, and a reader's
/// locks do not block writers. It does not write to the index either; if the app was killed, it makes an index in memory.
/// Without a log, SQLite reads the file without locks, and this type repeats the read if the file has changed during it.
struct UnchangedDatabase {
    private let path: String

    private static let maxAttempts = 10

    /// What the file system says about the files of the database.
    private struct State: Equatable {
        var modified: Date?
        var size: UInt64?
        var node: UInt64?
        var logSize: UInt64?
        var hasIndex = false
        var hasHotJournal = false

        var isReadThroughLog: Bool { logSize != nil && hasIndex }
    }

    init(path: String) throws(StoreError) {
        self.path = try StoreFile(path: path).path
    }

    /// Runs the body in a read transaction.
    func read<T>(_ body: (Connection) throws -> T) throws -> T {
        guard sqlite3_compileoption_used("USE_URI") == 1 else {
            throw StoreError(
                .unsupported, "SQLite was built without USE_URI, which reading without changes needs.")
        }
        for _ in 0..<Self.maxAttempts {
            let state = state
            let result = Result { try read(in: state, body) }
            // Through a log, SQLite reads a snapshot.
            if case .success(let value) = result, state.isReadThroughLog { return value }
            if state == self.state { return try result.get() }
        }
        throw StoreError.changesWhileRead(path)
    }

    private func read<T>(in state: State, _ body: (Connection) throws -> T) throws -> T {
        if state.hasHotJournal {
            throw StoreError(
                .cannotOpen,
                "'\(path)-journal' belongs to a running or interrupted transaction. Try again, or open the store with its app."
            )
        }
        if state.logSize ?? 0 > 0, !state.hasIndex {
            throw StoreError(
                .cannotOpen,
                "'\(path)-wal' cannot be read without '\(path)-shm'. Restore it, or create an empty file of that name."
            )
        }
        let options = state.isReadThroughLog ? "mode=ro&readonly_shm=1" : "immutable=1"
        var configuration = Configuration()
        configuration.label = "SQLiteStore.inspect"
        configuration.readonly = true
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { try Connection($0).distrustFile() }
        let uri = URL(fileURLWithPath: path).absoluteString + "?" + options
        return try StoreError.translating(at: path) {
            let queue = try DatabaseQueue(path: uri, configuration: configuration)
            return try queue.read { try body(Connection($0)) }
        }
    }

    private var state: State {
        var state = State()
        let files = FileManager.default
        if let attributes = try? files.attributesOfItem(atPath: path) {
            state.modified = attributes[.modificationDate] as? Date
            state.size = attributes[.size] as? UInt64
            state.node = attributes[.systemFileNumber] as? UInt64
        }
        state.logSize = size(of: path + "-wal")
        state.hasIndex = size(of: path + "-shm") != nil
        state.hasHotJournal = hasHotJournal
        return state
    }

    /// Whether a transaction that was interrupted, or is running, has a rollback journal. In the mode PERSIST, the journal of
    /// the last transaction stays, with zeros as its header.
    private var hasHotJournal: Bool {
        let journal = path + "-journal"
        guard size(of: journal) ?? 0 > 0 else { return false }
        guard let file = FileHandle(forReadingAtPath: journal) else { return true }
        defer { try? file.close() }
        return (try? file.read(upToCount: 1)).map { $0?.first.map { $0 != 0 } ?? false } ?? true
    }

    private func size(of path: String) -> UInt64? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? UInt64
    }
}
