// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore

/// An LMDB file as an ordered map.
///
/// LMDB's map has a size, and can be made larger only while no transaction of this process runs. So a write makes it
/// larger when half of it is used and nobody is reading; only one that overruns the other half waits for readers.
final class LMDBMap: OrderedMap {
    private enum Life { case open, closing, closed }

    private struct State: Sendable {
        var life = Life.open
        var isWriting = false
        var isResizing = false
        var readers = 0
        var idle: [LMDBReadTransaction] = []
    }

    let maxKeyLength: Int
    private let environment: LMDBEnvironment
    private let lock: StoreFileLock
    private let maximumSize: Int
    private let gate = Gate(State())

    /// Opens the file, and has it until ``close()``.
    init(path: String, mapSize: Int, maximumSize: Int, maxReaders: Int) throws(StoreError) {
        let file = LMDBFile(path: path)
        _ = try file.size()
        lock = try StoreFileLock(storePath: path)
        let size = try file.size()
        self.maximumSize = max(maximumSize, Self.smallestSize) / Self.smallestSize * Self.smallestSize
        var startSize = Self.smallestSize
        while startSize < max(mapSize, size), startSize < self.maximumSize { startSize *= 2 }
        do throws(LMDBError) {
            environment = try LMDBEnvironment(
                path: path, mapSize: min(startSize, self.maximumSize), maxReaders: maxReaders)
        } catch {
            throw error.storeError(opening: path)
        }
        maxKeyLength = environment.maxKeyLength
        if size == 0 { try file.syncDirectory() }
    }

    /// Room for a few pages of any size; all sizes are multiples of it.
    private static let smallestSize = 1 << 16

    deinit { try? close() }

    // MARK: Read

    func read<T>(_ body: (any OrderedMapSnapshot) throws -> T) throws -> T {
        let transaction = try beginRead()
        defer { end(transaction) }
        return try body(transaction)
    }

    private func beginRead() throws -> LMDBReadTransaction {
        let (isOpen, idle) = gate.change(when: { !$0.isResizing }) { state in
            guard state.life == .open else { return (false, nil as LMDBReadTransaction?) }
            state.readers += 1
            return (true, state.idle.popLast())
        }
        guard isOpen else { throw closed }
        do throws(LMDBError) {
            guard let idle else { return try environment.beginRead() }
            do throws(LMDBError) { try idle.renew() } catch {
                idle.abort()
                throw error
            }
            return idle
        } catch {
            gate.change { $0.readers -= 1 }
            throw error.storeError
        }
    }

    private func end(_ transaction: LMDBReadTransaction) {
        transaction.reset()
        gate.change { state in
            state.readers -= 1
            state.idle.append(transaction)
        }
    }

    // MARK: Write

    func write<T>(_ body: (any OrderedMapTransaction) throws -> T) throws -> T {
        let isOpen = gate.change(when: { !$0.isWriting }) { state in
            state.isWriting = state.life == .open
            return state.isWriting
        }
        guard isOpen else { throw closed }
        defer { gate.change { $0.isWriting = false } }
        growAhead()
        let transaction = try LMDBTransaction(environment, grow: grow)
        defer { transaction.abort() }
        let result = try body(transaction)
        try transaction.commit()
        return result
    }

    // MARK: Size

    /// Makes room while that disturbs nobody.
    private func growAhead() {
        guard environment.usedSize > environment.mapSize / 2, environment.mapSize < maximumSize else {
            return
        }
        let isAlone = gate.change { state in
            state.isResizing = state.readers == 0
            return state.isResizing
        }
        guard isAlone else { return }
        defer { gate.change { $0.isResizing = false } }
        try? resize(to: doubledSize)
    }

    /// Makes room when there is none left, holding new readers up until the running ones have ended.
    ///
    /// - Parameter isRemoving: whether the write may go beyond the maximum, because removing takes room too: a full
    ///   store could otherwise not be emptied.
    private func grow(isRemoving: Bool) throws {
        let size = environment.mapSize
        guard size < maximumSize || isRemoving else {
            throw StoreError(.full, "The store has reached its greatest size, \(maximumSize) bytes.")
        }
        gate.change { $0.isResizing = true }
        defer { gate.change { $0.isResizing = false } }
        gate.change(when: { $0.readers == 0 }) { _ in }
        let step = max(size / 8 / Self.smallestSize, 1) * Self.smallestSize
        try resize(to: size < maximumSize ? doubledSize : size + step)
    }

    private var doubledSize: Int {
        let (doubled, overflows) = environment.mapSize.multipliedReportingOverflow(by: 2)
        return overflows ? maximumSize : min(doubled, maximumSize)
    }

    private func resize(to size: Int) throws {
        do throws(LMDBError) { try environment.resize(to: size) } catch {
            throw StoreError(.full, "The store cannot be given more address space.", cause: error)
        }
    }

    // MARK: Close

    func close() throws {
        let isFirst = gate.change { state in
            defer { if state.life == .open { state.life = .closing } }
            return state.life == .open
        }
        guard isFirst else { return gate.change(when: { $0.life == .closed }) { _ in } }
        let idle = gate.change(when: { !$0.isWriting && $0.readers == 0 }) { state in
            defer { state.idle = [] }
            return state.idle
        }
        for transaction in idle { transaction.abort() }
        environment.close()
        lock.release()
        gate.change { $0.life = .closed }
    }

    private var closed: StoreError { StoreError(.closed, "The store is closed.") }
}
