// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations whose requests get no answer, for example because a proxy cuts off bodies of their size.
///
/// A push ends at such an operation, because there may be no network. After three pushes without an answer, the next operations
/// are tried too. If the server answers another request, only these operations have no answer: later pushes send them last. They
/// are known until the context is closed.
final class UnansweredOperations: Sendable {
    private struct State {
        /// The number of pushes without an answer, by the id of the operation.
        var counts: [Int64: Int] = [:]
        /// The operations that are the only ones without an answer.
        var alone: Set<Int64> = []
    }

    private static let limit = 3

    private let state = Mutex(State())

    /// The ids of the operations that are sent last.
    var alone: Set<Int64> { state.withLock { $0.alone } }

    /// Records that a request of the operation has no answer.
    ///
    /// - Returns: whether other operations may be answered.
    func record(_ id: Int64) -> Bool {
        state.withLock { state in
            state.counts[id, default: 0] += 1
            return state.counts[id, default: 0] >= Self.limit
        }
    }

    /// Records that the server has answered a request of the operation.
    func recordAnswer(to id: Int64) {
        state.withLock { state in
            state.counts[id] = nil
            state.alone.remove(id)
        }
        recordAnswer()
    }

    /// Records that the server has answered a request.
    func recordAnswer() {
        state.withLock { state in
            guard !state.counts.isEmpty else { return }
            state.alone.formUnion(state.counts.filter { $0.value >= Self.limit }.keys)
        }
    }
}

extension SyncContext {
    /// The ids of the operations that a push sends last, because only their requests have no answer.
    package var unansweredOperationIDs: Set<Int64> { unanswered.alone }
}
