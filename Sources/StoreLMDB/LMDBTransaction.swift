// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
import SyncCore

/// A write transaction that can outgrow the map.
///
/// LMDB aborts a transaction when the map is full. This type records the changes and replays them in a new transaction
/// on a larger map; no other write can run between, and the body does not observe the replay.
final class LMDBTransaction: OrderedMapTransaction {
    private let environment: LMDBEnvironment
    private let grow: (_ isRemoving: Bool) throws -> Void
    private var transaction: LMDBWriteTransaction
    private var changes: [(key: [UInt8], value: [UInt8]?)] = []
    private var removals = 0
    private var failure: (any Error)?

    init(_ environment: LMDBEnvironment, grow: @escaping (_ isRemoving: Bool) throws -> Void) throws {
        self.environment = environment
        self.grow = grow
        do throws(LMDBError) { transaction = try environment.beginWrite() } catch { throw error.storeError }
    }

    func get<T>(_ key: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        if let failure { throw failure }
        return try transaction.get(key, body)
    }

    func scan(
        from start: [UInt8],
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws {
        if let failure { throw failure }
        try transaction.scan(from: start, body)
    }

    func put(_ value: [UInt8], for key: [UInt8]) throws { try change(key, to: value) }

    func insert(_ value: [UInt8], for key: [UInt8]) throws -> Bool {
        var isNew = false
        try attempt { transaction throws(LMDBError) in isNew = try transaction.insert(value, for: key) }
        if isNew { changes.append((key, value)) }
        return isNew
    }

    func delete(_ key: [UInt8]) throws { try change(key, to: nil) }

    /// Commits the changes.
    ///
    /// - Throws: also the error of an earlier change that the body ignored, because a partial change must not be
    ///   committed.
    func commit() throws {
        try attempt { transaction throws(LMDBError) in try transaction.commit() }
    }

    /// Rolls the transaction back if it is still open.
    func abort() { transaction.abort() }

    private func change(_ key: [UInt8], to value: [UInt8]?) throws {
        if value == nil { removals += 1 }
        try attempt { transaction throws(LMDBError) in try transaction.set(key, to: value) }
        changes.append((key, value))
    }

    private func attempt(_ body: (LMDBWriteTransaction) throws(LMDBError) -> Void) throws {
        if let failure { throw failure }
        do {
            while true {
                do throws(LMDBError) { return try body(transaction) } catch {
                    guard error.isMapFull else { throw storeError(error) }
                }
                while try !replayOnLargerMap() {}
            }
        } catch {
            transaction.abort()
            failure = error
            throw error
        }
    }

    /// Replays the recorded changes on a larger map; returns false when it is too small as well.
    private func replayOnLargerMap() throws -> Bool {
        transaction.abort()
        try grow(2 * removals > changes.count)
        do throws(LMDBError) {
            transaction = try environment.beginWrite()
            for (key, value) in changes { try transaction.set(key, to: value) }
            return true
        } catch {
            guard error.isMapFull else { throw storeError(error) }
            return false
        }
    }

    /// Ends the transaction, and returns the store error of the failed change or commit.
    private func storeError(_ error: LMDBError) -> StoreError {
        transaction.abort()
        return environment.storeError(forWrite: error)
    }
}

extension LMDBWriteTransaction {
    fileprivate func set(_ key: [UInt8], to value: [UInt8]?) throws(LMDBError) {
        if let value { try put(value, for: key) } else { try delete(key) }
    }
}
