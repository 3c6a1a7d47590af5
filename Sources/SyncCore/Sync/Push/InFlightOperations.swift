// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations that a push of this process is sending, and those that it has marked ahead of their turn.
///
/// An operation that is marked ahead is not in flight, because nothing of it has been sent. Every other write to the store takes
/// its mark back first, so that it finds the operation as if the push had not begun it; the push then marks it again.
///
/// A delegate can send an operation's change by itself. While it performs an insert, the server may have the row, so that a
/// deletion by the user does not remove the insert but is queued behind it.
final class InFlightOperations: Sendable {
    private struct State {
        var sent: Set<Int64> = []
        var performed: Set<Int64> = []
        var unstored: [Int64: Item] = [:]
        var ahead: [Int64: MarkAhead] = [:]

        /// The inserts that a delegate is performing, or has performed by itself.
        var mayBeOnServer: Set<Int64> { performed.union(unstored.keys) }
    }

    private let state = Mutex(State())

    /// The ids of the operations that are being sent.
    var all: Set<Int64> { state.withLock { $0.sent } }

    /// The ids of the inserts that a delegate is performing, or has performed without a stored result.
    var performed: Set<Int64> { state.withLock(\.mayBeOnServer) }

    /// Whether a delegate is performing the insert.
    func isPerformed(_ id: Int64) -> Bool { state.withLock { $0.performed.contains(id) } }

    /// Returns the operations that are in flight now.
    ///
    /// - Parameter isShared: whether another process can send operations of the store too.
    func snapshot(isShared: Bool) -> InFlightSnapshot {
        state.withLock {
            InFlightSnapshot(sent: $0.sent, performed: $0.mayBeOnServer, includesAttempts: isShared)
        }
    }

    func beginPerforming(_ id: Int64) { state.withLock { _ = $0.performed.insert(id) } }
    func endPerforming(_ id: Int64) { state.withLock { _ = $0.performed.remove(id) } }

    /// Records the row that a delegate has inserted and that the store could not store.
    func recordUnstored(_ row: Item, of id: Int64) { state.withLock { $0.unstored[id] = row } }

    /// Returns the row that a delegate has inserted by itself and that the store could not store.
    func unstoredRow(of id: Int64) -> Item? { state.withLock { $0.unstored[id] } }

    func removeUnstored(_ id: Int64) { state.withLock { $0.unstored[id] = nil } }

    func insert(_ id: Int64) { state.withLock { _ = $0.sent.insert(id) } }

    func remove(_ id: Int64) {
        state.withLock { state in
            state.sent.remove(id)
            state.ahead[id] = nil
        }
    }

    /// Records that an operation has been marked ahead of its turn.
    func insertAhead(_ marked: TableOperation, unmarked: TableOperation) {
        state.withLock {
            $0.ahead[marked.id] = MarkAhead(unmarked: unmarked, marked: marked)
        }
    }

    /// Begins to send an operation that was marked ahead.
    ///
    /// - Returns: `false` if its mark was taken back meanwhile: it has to be marked again.
    func beginSending(_ id: Int64) -> Bool {
        state.withLock { state in
            guard state.ahead[id]?.isTakenBack == false else { return false }
            state.ahead[id] = nil
            state.sent.insert(id)
            return true
        }
    }

    /// Takes back the marks of the operations that were marked ahead and are not sent yet.
    ///
    /// After a rollback, an operation still has its mark, which ``takeBackMark(of:in:)`` removes before it is marked again.
    func takeBackMarks(in transaction: any StoreTransaction) throws {
        let marks = state.withLock { state in
            let ids = state.ahead.keys.filter { !state.sent.contains($0) }
            for id in ids { state.ahead[id]?.isTakenBack = true }
            return ids.compactMap { state.ahead[$0] }
        }
        for mark in marks { try mark.takeBack(in: transaction) }
    }

    /// Takes back the mark of one operation, if it was marked ahead, so that it can be marked again.
    func takeBackMark(of id: Int64, in transaction: any StoreTransaction) throws {
        try state.withLock { $0.ahead[id] }?.takeBack(in: transaction)
    }

    /// Forgets that an operation was marked ahead: it is marked again now, and is being sent.
    func removeMark(of id: Int64) { state.withLock { $0.ahead[id] = nil } }

    /// The mark of an operation that is not sent yet.
    private struct MarkAhead {
        let unmarked: TableOperation
        let marked: TableOperation
        var isTakenBack = false

        func takeBack(in transaction: any StoreTransaction) throws {
            // An edit of the operation without its mark has the mark's revision. A change that the app's own transaction
            // has queued has increased it.
            guard var operation = try transaction.operation(id: unmarked.id),
                operation.revision >= marked.revision, operation.state == .attempted,
                operation.sent == marked.sent, operation.lastAttempt == marked.lastAttempt
            else { return }
            (operation.state, operation.sent) = (unmarked.state, unmarked.sent)
            (operation.lastAttempt, operation.lastStatus) = (unmarked.lastAttempt, unmarked.lastStatus)
            if operation.revision == marked.revision { operation.revision = unmarked.revision }
            try transaction.put(operation)
        }
    }
}

extension SyncContext {
    /// Whether a delegate is performing the insert.
    package func isPerforming(_ operationID: Int64) -> Bool { inFlight.isPerformed(operationID) }
}
