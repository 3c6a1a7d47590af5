// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The operations whose requests get no answer, for example because a proxy cuts off bodies of their size.
///
/// A push ends at such an operation, because there may be no network. After three pushes without an answer, the next operations
/// are tried too. If the server answers another request, only these operations have no answer: later pushes send them last, and
/// their requests once. They are known until the context is closed.
///
/// An operation at which a push has ended with an answer that may be about it only is sent last too, until it is answered.
final class UnansweredOperations: Sendable {
    private struct State {
        /// The number of pushes without an answer, by the id of the operation.
        var counts: [Int64: Int] = [:]
        /// The operations that are the only ones without an answer.
        var alone: Set<Int64> = []
        /// The operations at which the last push that has sent them has ended, although others may be answered.
        var atEnds: Set<Int64> = []
        /// The uptime when the last write of each operation without an answer has ended, also if its push was cancelled.
        var lastEnds: [Int64: Duration] = [:]
    }

    private static let limit = 3

    private let state = Mutex(State())

    /// The ids of the operations that are the only ones without an answer.
    var alone: Set<Int64> { state.withLock { $0.alone } }

    /// The ids of the operations that a push sends last.
    var sentLast: Set<Int64> { state.withLock { $0.alone.union($0.atEnds) } }

    func isAlone(_ id: Int64) -> Bool { state.withLock { $0.alone.contains(id) } }

    /// The uptime when the last write of the operation has ended.
    func lastEnd(of id: Int64) -> Duration? { state.withLock { $0.lastEnds[id] } }

    /// Records that a request of an operation has ended, with or without an answer.
    ///
    /// - Parameter isWrite: a read cannot arrive late and change the row. The first one counts all the same: another process,
    ///   or this app before its start, may have sent a write just before it.
    func recordEnd(of id: Int64, isWrite: Bool, at uptime: Duration) {
        state.withLock { state in
            if isWrite || state.lastEnds[id] == nil { state.lastEnds[id] = uptime }
        }
    }

    /// Records that a push has had no answer about the operation.
    ///
    /// - Returns: the number of such operations that this push may pass over; `nil` if it ends here. It grows, because more of
    ///   them may gather at the front of the queue.
    func record(_ id: Int64) -> Int? {
        state.withLock { state in
            let count = state.counts[id, default: 0] + 1
            state.counts[id] = count
            return count >= Self.limit ? 2 + min(count / 10, 8) : nil
        }
    }

    /// Records that a push has ended at the operation, with an answer that may be about it only.
    func recordEndOfPush(at id: Int64) { state.withLock { _ = $0.atEnds.insert(id) } }

    /// Records that the server has answered a request.
    ///
    /// - Parameter id: the operation of the request; `nil` for a page.
    func recordAnswer(to id: Int64? = nil) {
        state.withLock { state in
            if let id {
                state.counts[id] = nil
                state.lastEnds[id] = nil
                state.alone.remove(id)
                state.atEnds.remove(id)
            }
            state.alone.formUnion(state.counts.filter { $0.value >= Self.limit }.keys)
        }
    }
}

extension SyncContext {
    /// The time after which no gateway holds a request.
    private static let requestLifetime = Duration.seconds(120)

    /// Whether only the requests of the operation get no answer, and none of them can still arrive.
    func isUnanswered(_ operation: TableOperation) -> Bool {
        guard unanswered.isAlone(operation.id) else { return false }
        guard let end = unanswered.lastEnd(of: operation.id) else { return true }
        return end + Self.requestLifetime <= environment.uptime()
    }

    /// Throws if the user has corrected an operation whose requests alone get no answer, and one of them can still arrive.
    ///
    /// Nothing is sent until then: another request of the former content would only begin the wait again.
    ///
    /// - Throws: ``SyncError/Code/pushAbortedNetwork``.
    func waitToCorrect(_ operation: TableOperation, item: Item?, _ definition: SyncTableDefinition) throws {
        guard unanswered.isAlone(operation.id), !isUnanswered(operation),
            operation.mustNotRepeatAttempt(
                item: item, definition: definition, sendsChangedFieldsOnly: sendsChangedFieldsOnly,
                isUnanswered: true)
        else { return }
        throw PushEnding.correctionWaits
    }
}
