// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Lets the operations of a push have their turns in the order of the queue, so many at a time.
///
/// A few more may stand in line. Each is up when another one's answer has come, so that it is marked in the transaction
/// in which that one's result is stored: a push makes one commit an operation, and not two.
final class PushLane: Sendable {
    private let width: Int
    private let capacity: Int
    private let state = Mutex(State())

    private struct State {
        var isClosed = false
        var lastNumber = 0
        /// The places that were not left yet, in order.
        var numbers: [Int] = []
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        /// Whoever waits for a place to be free.
        var arrival: CheckedContinuation<Place?, Never>?
    }

    /// - Parameters:
    ///   - width: how many may be up.
    ///   - ahead: how many more may stand in line.
    init(width: Int, ahead: Int) {
        self.width = width
        capacity = width + ahead
    }

    /// Waits for a free place behind the others; `nil` once the lane is closed. One caller may wait at a time.
    func place() async -> Place? {
        await withCheckedContinuation { continuation in
            change { $0.arrival = continuation }
        }
    }

    /// A place in the lane, up to the answer.
    struct Place: Sendable {
        fileprivate let lane: PushLane
        fileprivate let number: Int

        /// Waits until it is up.
        ///
        /// - Returns: whether it is; false when the push has ended.
        func isUp() async -> Bool {
            let isUp = await withCheckedContinuation { continuation in
                lane.change { $0.waiting[number] = continuation }
            }
            return isUp && !Task.isCancelled
        }

        /// Lets those behind move up, or tells them that they will not, if the push has to end.
        func leave(ending push: Bool = false) {
            lane.change { state in
                state.numbers.removeAll { $0 == number }
                if push { state.isClosed = true }
            }
        }
    }

    /// Makes a change, then lets everybody go on who now can.
    private func change(_ change: (inout State) -> Void) {
        let resume = state.withLock { state in
            change(&state)
            return release(&state)
        }
        resume()
    }

    private func release(_ state: inout State) -> () -> Void {
        let isClosed = state.isClosed
        let up = isClosed ? Set(state.waiting.keys) : Set(state.numbers.prefix(width))
        let released = state.waiting.filter { up.contains($0.key) }
        for number in released.keys { state.waiting[number] = nil }
        var (arrival, place) = (CheckedContinuation<Place?, Never>?.none, Place?.none)
        if isClosed || state.numbers.count < capacity, let waiting = state.arrival {
            (arrival, state.arrival) = (waiting, nil)
            if !isClosed {
                state.lastNumber += 1
                state.numbers.append(state.lastNumber)
                place = Place(lane: self, number: state.lastNumber)
            }
        }
        return {
            for continuation in released.values { continuation.resume(returning: !isClosed) }
            arrival?.resume(returning: place)
        }
    }
}
