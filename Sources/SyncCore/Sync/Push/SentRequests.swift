// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Records how the requests of an attempt were sent and answered, to tell whether the server may have applied one.
final class SentRequests: Sendable {
    private struct State {
        var hasResponse = false
        var hasWritten = false
        var isOpen = false
        var isRepeated = false
        var isConfirmed = false
        var isApplied = false
        var isRowUnchanged = false
        var condition: Item?
        var reason: String?
    }

    private let state = Mutex(State())
    /// Whether the write changes a combined column, in which equal changes of two devices both count.
    private let changesCounter: Bool

    init(changesCounter: Bool) { self.changesCounter = changesCounter }

    /// Whether a request was answered. What a pull has shown can decide an attempt without a request.
    var hasResponse: Bool { state.withLock(\.hasResponse) }
    /// Whether a write was sent. Before it, the row may have to be read.
    var hasWritten: Bool { state.withLock(\.hasWritten) }
    /// Whether a write was sent again, although the server may have applied it.
    var isRepeated: Bool { state.withLock(\.isRepeated) }

    /// Whether the last write was answered with success.
    var isConfirmed: Bool { state.withLock(\.isConfirmed) }

    /// Whether the server has applied the last write, or may have: no response says that it has not.
    var mayBeApplied: Bool { state.withLock { $0.isOpen || $0.isConfirmed } }

    /// Whether the server has applied the answered request, and therefore no earlier one.
    var isApplied: Bool { state.withLock(\.isApplied) }

    /// Whether the row is in the state that the operation was made on: the server has applied no attempt.
    var isRowUnchanged: Bool { state.withLock(\.isRowUnchanged) }

    /// The state of the row in the condition of the last write. If nothing else is known of that state, it has only a
    /// version.
    var condition: Item? { state.withLock(\.condition) }

    /// The state of the row that the answered request has replaced.
    var replaced: Item? { state.withLock { $0.isApplied ? $0.condition : nil } }

    /// The server's message about a conflict whose row it has not shown.
    var reason: String? { state.withLock(\.reason) }

    func recordReason(_ message: String?) { state.withLock { $0.reason = message } }
    func recordCondition(_ row: Item?) { state.withLock { $0.condition = row } }
    func recordUnchangedRow() { state.withLock { $0.isRowUnchanged = true } }
    func recordApplication() { state.withLock { $0.isApplied = true } }

    /// Records that a write is about to be sent.
    func recordWrite() {
        state.withLock { state in
            if state.isOpen { state.isRepeated = true }
            (state.hasWritten, state.isOpen, state.isConfirmed) = (true, true, false)
        }
    }

    /// Records that middleware has sent the write more than once.
    func recordRepetition() { state.withLock { $0.isRepeated = true } }

    /// Records that the server has received nothing of the write, or required a sign-in for it.
    func recordUnsent() { state.withLock { $0.isOpen = false } }

    /// Records a response that says the write was not processed. Ignored if the write changes no counter: a gateway may have
    /// refused only a second delivery of an applied write.
    func recordUnprocessed() { if changesCounter { recordUnsent() } }

    /// Records a response. If the write changes no counter, a conflict may be that of a second delivery.
    func recordResponse(to action: RemoteCall.Action, _ classification: ResponseClassification) {
        state.withLock { state in
            state.hasResponse = true
            guard !action.isRead else { return }
            state.isConfirmed = classification == .done
            let isNotApplied = classification.isDefiniteRefusal || changesCounter && classification.isConflict
            if state.isConfirmed || isNotApplied { state.isOpen = false }
        }
    }
}
