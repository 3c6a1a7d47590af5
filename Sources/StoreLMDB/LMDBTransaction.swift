// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
import SyncCore

/// A write to an LMDB file that can outgrow the map.
///
/// LMDB gives a transaction up when the map is full. The changes are therefore remembered, and made again in a new
/// transaction on a larger map; no other write can come between, and the body does not notice.
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

    /// - Throws: also what a change threw, if the body went on regardless: half of it must not be kept.
    func commit() throws {
        try attempt { transaction throws(LMDBError) in try transaction.commit() }
    }

    /// Ends the transaction, if it has not ended yet, without keeping anything.
    func abort() { transaction.abort() }

    private func change(_ key: [UInt8], to value: [UInt8]?) throws {
        if value == nil { removals += 1 }
        try attempt { transaction throws(LMDBError) in try transaction.set(key, to: value) }
        changes.append((key, value))
    }

    private func attempt(_ act: (LMDBWriteTransaction) throws(LMDBError) -> Void) throws {
        if let failure { throw failure }
        do {
            while true {
                do throws(LMDBError) { return try act(transaction) } catch {
                    guard error.isMapFull else { throw error.storeError }
                }
                while try !beginAgain() {}
            }
        } catch {
            transaction.abort()
            failure = error
            throw error
        }
    }

    /// Makes the changes so far again on a larger map; false when that is too small as well.
    private func beginAgain() throws -> Bool {
        transaction.abort()
        try grow(2 * removals > changes.count)
        do throws(LMDBError) {
            transaction = try environment.beginWrite()
            for (key, value) in changes { try transaction.set(key, to: value) }
            return true
        } catch {
            guard error.isMapFull else { throw error.storeError }
            return false
        }
    }
}

extension LMDBWriteTransaction {
    fileprivate func set(_ key: [UInt8], to value: [UInt8]?) throws(LMDBError) {
        if let value { try put(value, for: key) } else { try delete(key) }
    }
}
