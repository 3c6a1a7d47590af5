// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Gives the operations of a push their turns, so many at a time.
///
/// A turn gives its place up when its answer has come. So the next operation is marked in the transaction in which the
/// result of the last one is stored: a push makes one commit an operation, and not two.
final class AsyncSemaphore: Sendable {
    private let width: Int
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        var lastNumber = 0
        var taken: Set<Int> = []
        /// Whoever waits for a place to be free.
        var waiting: CheckedContinuation<Place?, Never>?
    }

    /// - Parameter width: how many places there are.
    init(width: Int) {
        self.width = width
    }

    /// Waits for a free place; `nil` once the lane is closed. One caller may wait at a time.
    func place() async -> Place? {
        await withCheckedContinuation { continuation in
            change { $0.waiting = continuation }
        }
    }

    /// A place in the lane, from the beginning of a turn to its answer.
    struct Place: Sendable {
        fileprivate let lane: AsyncSemaphore
        fileprivate let number: Int

        /// Lets the next one begin, or none any more, if the push has to end. Leaving again does nothing.
        func leave(ending push: Bool = false) {
            lane.change { state in
                state.taken.remove(number)
                if push { state.isClosed = true }
            }
        }
    }

    /// Makes a change, then lets whoever waits go on, if it now can.
    private func change(_ change: (inout State) -> Void) {
        let (waiting, place) = state.withLock { state -> (CheckedContinuation<Place?, Never>?, Place?) in
            change(&state)
            guard let waiting = state.waiting, state.isClosed || state.taken.count < width else {
                return (nil, nil)
            }
            state.waiting = nil
            guard !state.isClosed else { return (waiting, nil) }
            state.lastNumber += 1
            state.taken.insert(state.lastNumber)
            return (waiting, Place(lane: self, number: state.lastNumber))
        }
        waiting?.resume(returning: place)
    }
}
