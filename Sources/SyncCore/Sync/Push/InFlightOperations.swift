// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations that a push of this process is sending, and those that it has marked ahead of their turn.
///
/// An operation that is marked ahead is not in flight, because nothing of it has been sent. Every other write to the store takes
/// its mark back first, so that it finds the operation as if the push had not begun it; the push then marks it again.
final class InFlightOperations: Sendable {
    private struct State {
        var sent: Set<Int64> = []
        var ahead: [Int64: MarkedAhead] = [:]
    }

    private struct MarkedAhead {
        let unmarked: TableOperation
        let markedRevision: Int
        var isTakenBack = false
    }

    private let state = Mutex(State())

    /// The ids of the operations that are being sent.
    var all: Set<Int64> { state.withLock { $0.sent } }

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
            $0.ahead[marked.id] = MarkedAhead(unmarked: unmarked, markedRevision: marked.revision)
        }
    }

    /// Begins to send an operation that was marked ahead.
    ///
    /// - Returns: `false` if its mark was taken back meanwhile: it has to be marked again.
    func beginSending(_ id: Int64) -> Bool {
        state.withLock { state in
            guard let operation = state.ahead.removeValue(forKey: id), !operation.isTakenBack else {
                return false
            }
            state.sent.insert(id)
            return true
        }
    }

    /// Takes back the marks of the operations that were marked ahead. Also after a rollback, they will be marked again.
    func takeBackMarks(in transaction: any StoreTransaction) throws {
        let ahead = state.withLock { state in
            for id in state.ahead.keys { state.ahead[id]?.isTakenBack = true }
            return Array(state.ahead.values)
        }
        for operation in ahead {
            guard var current = try transaction.operation(id: operation.unmarked.id),
                current.revision == operation.markedRevision
            else { continue }
            let unmarked = operation.unmarked
            (current.state, current.sent, current.revision) = (
                unmarked.state, unmarked.sent, unmarked.revision
            )
            (current.lastAttempt, current.lastStatus) = (unmarked.lastAttempt, unmarked.lastStatus)
            try transaction.put(current)
        }
    }
}
