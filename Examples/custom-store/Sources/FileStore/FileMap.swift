// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore
import Synchronization

/// An in-memory ordered map whose changes are synced to a file before they become visible.
final class FileMap: OrderedMap {
    let maxKeyLength = Int.max

    private let lock: StoreFileLock
    private let writeLock = NSLock()
    private let log: ChangeLog
    /// The state that new readers see; `nil` after close.
    private let committed: Mutex<SortedBytes?>
    private let runningReads = DispatchGroup()

    init(path: String) throws {
        lock = try StoreFileLock(storePath: path)
        do {
            log = try ChangeLog(path: path)
            committed = Mutex(try log.replay())
        } catch {
            lock.release()
            throw error
        }
    }

    func read<T>(_ body: (any OrderedMapSnapshot) throws -> T) throws -> T {
        let state = try committed.withLock { committed in
            let state = try Self.opened(committed)
            runningReads.enter()
            return state
        }
        defer { runningReads.leave() }
        return try body(FileMapTransaction(state))
    }

    func write<T>(_ body: (any OrderedMapTransaction) throws -> T) throws -> T {
        try writeLock.withLock {
            let transaction = FileMapTransaction(try committed.withLock { try Self.opened($0) })
            let result = try body(transaction)
            if !transaction.changes.isEmpty {
                try log.append(transaction.changes)
                committed.withLock { $0 = transaction.entries }
            }
            return result
        }
    }

    func close() {
        writeLock.withLock {
            let wasOpen = committed.withLock { committed in
                defer { committed = nil }
                return committed != nil
            }
            if wasOpen {
                runningReads.wait()
                log.close()
                lock.release()
            }
        }
    }

    private static func opened(_ state: SortedBytes?) throws -> SortedBytes {
        guard let state else { throw StoreError(.closed, "The store is closed.") }
        return state
    }
}

/// A copy of the map that records its changes.
private final class FileMapTransaction: OrderedMapTransaction {
    private(set) var entries: SortedBytes
    private(set) var changes: [ChangeLog.Change] = []

    init(_ entries: SortedBytes) { self.entries = entries }

    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        try entries[key].map { try $0.withUnsafeBytes(body) }
    }

    func scan(
        from start: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        try entries.forEach(from: start) { key, value in
            try key.withUnsafeBytes { key in try value.withUnsafeBytes { try body(key, $0) } }
        }
    }

    func put(_ value: [UInt8], for key: [UInt8]) {
        entries[key] = value
        changes.append((key, value))
    }

    func delete(_ key: [UInt8]) {
        entries[key] = nil
        changes.append((key, nil))
    }
}
