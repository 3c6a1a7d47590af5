// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreOrderedMap
@_spi(StoreAuthor) import SyncCore

/// An LMDB file as an ordered map.
///
/// LMDB can resize its map only while no transaction of this process runs. A write therefore doubles the map early,
/// when half of it is used and no read is running; only a write that overflows the map waits for running reads.
final class LMDBMap: OrderedMap {
    private enum Phase { case open, closing, closed }

    private struct State: Sendable {
        var phase = Phase.open
        var isWriting = false
        /// Whether the map is being resized or opened again: no read begins.
        var isResizing = false
        var readers = 0
        /// The state of the file after this store has checked or written it; `nil` after another program has changed it.
        var fileState: LMDBFileState?
        var idleReads: [LMDBReadTransaction] = []
    }

    let maxKeyLength: Int
    private let environment: LMDBEnvironment
    private let lock: StoreFileLock
    private let lastCommit: LMDBCommittedState
    private let maximumSize: Int
    private let state = Monitor(State())

    /// Opens and locks the file until ``close()``.
    init(path: String, mapSize: Int, maximumSize: Int, maxReaders: Int) throws {
        let file = LMDBFile(path: path)
        _ = try file.size()
        lock = try StoreFileLock(storePath: path)
        lastCommit = LMDBCommittedState(lock: lock)
        let fileState = try LMDBFileCheck.run(path: path, lastCommit: lastCommit)
        let size = fileState?.size ?? 0
        self.maximumSize = max(maximumSize, Self.smallestSize) / Self.smallestSize * Self.smallestSize
        var startSize = Self.smallestSize
        while startSize < max(mapSize, size), startSize < self.maximumSize { startSize *= 2 }
        do throws(LMDBError) {
            environment = try LMDBEnvironment(
                path: path, mapSize: min(startSize, self.maximumSize), maxReaders: maxReaders)
        } catch {
            if size == 0, error.isDiskFull { file.removeContent() }
            throw error.storeError(opening: path)
        }
        maxKeyLength = environment.maxKeyLength
        // Also if a former opening has created the file, and ended before it synced the directory.
        if environment.isNew { try file.syncDirectory() }
        state.withLock { $0.fileState = fileState ?? environment.fileState }
    }

    /// The minimum map size, a few pages of any page size; all sizes are multiples of it.
    private static let smallestSize = 1 << 16

    deinit { try? close() }

    // MARK: Read

    func read<T>(_ body: (any OrderedMapSnapshot) throws -> T) throws -> T {
        let transaction = try beginRead()
        defer { end(transaction) }
        return try body(transaction)
    }

    private func beginRead() throws -> LMDBReadTransaction {
        do { return try tryRead() } catch let error as LMDBError where error.isFatal {
            // A write has failed, and opens the file again.
            try beginWriting()
            defer { endWriting() }
            try reopenIfFailed()
        } catch let error as LMDBError {
            throw error.storeError
        }
        do { return try tryRead() } catch let error as LMDBError { throw error.storeError }
    }

    private func tryRead() throws -> LMDBReadTransaction {
        let (isOpen, idle) = state.withLock(when: { !$0.isResizing }) { state in
            guard state.phase == .open else { return (false, nil as LMDBReadTransaction?) }
            state.readers += 1
            return (true, state.idleReads.popLast())
        }
        guard isOpen else { throw closed }
        do throws(LMDBError) {
            return try environment.beginRead(reusing: idle)
        } catch {
            state.withLock { $0.readers -= 1 }
            throw error
        }
    }

    private func end(_ transaction: LMDBReadTransaction) {
        transaction.reset()
        state.withLock { state in
            state.readers -= 1
            state.idleReads.append(transaction)
        }
    }

    // MARK: Write

    func write<T>(_ body: (any OrderedMapTransaction) throws -> T) throws -> T {
        try beginWriting()
        defer { endWriting() }
        try reopenIfFailed()
        // So that reads need not wait for the next write.
        defer { try? reopenIfFailed() }
        growAhead()
        let isUnchanged = state.withLock { $0.fileState } == environment.fileState
        defer { didWrite(toUnchangedFile: isUnchanged && !environment.hasFailed) }
        let transaction = try LMDBTransaction(environment, grow: grow)
        defer { transaction.abort() }
        let result = try body(transaction)
        try transaction.commit()
        try environment.flushDrive()
        return result
    }

    /// Waits for the running write.
    private func beginWriting() throws {
        let isOpen = state.withLock(when: { !$0.isWriting }) { state in
            state.isWriting = state.phase == .open
            return state.isWriting
        }
        guard isOpen else { throw closed }
    }

    private func endWriting() { state.withLock { $0.isWriting = false } }

    /// Records the state of the file after a transaction, unless another program has changed the file before it: the next
    /// opening then checks the file. A transaction that was rolled back may have written pages too.
    private func didWrite(toUnchangedFile isUnchanged: Bool) {
        let newState = isUnchanged ? environment.fileState : nil
        state.withLock { $0.fileState = newState }
        if let newState { lastCommit.record(newState) }
    }

    /// Opens the file again after LMDB could not write a meta page. Blocks new reads and waits for the running ones.
    private func reopenIfFailed() throws {
        guard environment.hasFailed else { return }
        state.withLock { $0.isResizing = true }
        defer { state.withLock { $0.isResizing = false } }
        let idle = state.withLock(when: { $0.readers == 0 }) { state in
            defer { state.idleReads = [] }
            return state.idleReads
        }
        for transaction in idle { transaction.abort() }
        do throws(LMDBError) { try environment.reopen() } catch { throw error.storeError }
    }

    // MARK: Size

    /// Doubles the map early when it is half full and no read is running.
    private func growAhead() {
        guard environment.usedSize > environment.mapSize / 2, environment.mapSize < maximumSize else {
            return
        }
        let hasNoReaders = state.withLock { state in
            state.isResizing = state.readers == 0
            return state.isResizing
        }
        guard hasNoReaders else { return }
        defer { state.withLock { $0.isResizing = false } }
        _ = environment.releaseEndedReaders()
        try? resize(to: doubledSize)
    }

    /// Enlarges a full map: blocks new reads and waits for the running ones.
    ///
    /// - Parameter isRemoving: whether the write may exceed the maximum size. Removing needs pages too, so a full store
    ///   could otherwise not be emptied.
    private func grow(isRemoving: Bool) throws {
        // The pages that they have kept can be enough.
        if environment.releaseEndedReaders() { return }
        let size = environment.mapSize
        guard size < maximumSize || isRemoving else {
            throw StoreError(
                .full,
                "The store has reached its maximum size, \(maximumSize) bytes; delete items or raise maximumSize."
            )
        }
        state.withLock { $0.isResizing = true }
        defer { state.withLock { $0.isResizing = false } }
        state.withLock(when: { $0.readers == 0 }) { _ in }
        let step = max(size / 8 / Self.smallestSize, 1) * Self.smallestSize
        try resize(to: size < maximumSize ? doubledSize : size + step)
    }

    private var doubledSize: Int {
        let (doubled, overflows) = environment.mapSize.multipliedReportingOverflow(by: 2)
        return overflows ? maximumSize : min(doubled, maximumSize)
    }

    private func resize(to size: Int) throws {
        do throws(LMDBError) { try environment.resize(to: size) } catch {
            throw StoreError(
                .full, "The system cannot map \(size) bytes of address space for the store.", cause: error)
        }
    }

    // MARK: Close

    func close() throws {
        let isFirst = state.withLock { state in
            defer { if state.phase == .open { state.phase = .closing } }
            return state.phase == .open
        }
        guard isFirst else { return state.withLock(when: { $0.phase == .closed }) { _ in } }
        let idle = state.withLock(when: { !$0.isWriting && $0.readers == 0 }) { state in
            defer { state.idleReads = [] }
            return state.idleReads
        }
        for transaction in idle { transaction.abort() }
        environment.close()
        lock.release()
        state.withLock { $0.phase = .closed }
    }

    /// Throws ``StoreError/Code/closed`` after ``close()``.
    func requireOpen() throws {
        guard state.withLock({ $0.phase == .open }) else { throw closed }
    }

    private var closed: StoreError { StoreError(.closed, "The store is closed.") }
}
