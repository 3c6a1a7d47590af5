// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Runs every job of a simulated system on the calling thread, in an order drawn from a seed, on a virtual clock.
final class SimulationScheduler: TaskExecutor {
    /// How the next job is chosen among those that are ready.
    enum Policy: Sendable {
        case uniform
        case firstInFirstOut
        /// The newest job first, most of the time.
        case lastInFirstOut
    }

    private enum Job: Sendable {
        case task(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private struct Timer {
        let time: Int64
        let number: Int
        let action: @Sendable () -> Void
    }

    private struct State {
        var ready: [Job] = []
        var timers: [Timer] = []
        var now: Int64 = 0
        var lastTimer = 0
        var random: SimulationRandom
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>
    private let policy: Policy
    /// The virtual time at which every simulation starts, in seconds since 1970.
    private static let start: Int64 = 1_700_000_000

    init(seed: UInt64, policy: Policy) {
        state = Mutex(State(random: SimulationRandom(seed, 1)))
        self.policy = policy
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.ready.append(.task(job)) }
    }

    /// Runs the work as a job.
    func enqueue(_ work: @escaping @Sendable () -> Void) { state.withLock { $0.ready.append(.work(work)) } }

    /// Virtual nanoseconds since the start.
    var nanoseconds: Int64 { state.withLock { $0.now } }

    /// The virtual time.
    var now: Timestamp {
        let nanoseconds = nanoseconds
        return Timestamp(
            seconds: Self.start + nanoseconds / 1_000_000_000, nanoseconds: Int32(nanoseconds % 1_000_000_000),
            fractionDigits: 7) ?? .unixEpoch
    }

    /// Runs the action after a delay.
    ///
    /// - Returns: the timer's number, for ``cancel(_:)``.
    @discardableResult
    func schedule(after delay: Int64, _ action: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastTimer += 1
            state.timers.append(Timer(time: state.now + max(0, delay), number: state.lastTimer, action: action))
            return state.lastTimer
        }
    }

    /// Removes a timer and returns whether it was still waiting.
    func cancel(_ number: Int) -> Bool {
        state.withLock { state in
            guard let index = state.timers.firstIndex(where: { $0.number == number }) else { return false }
            state.timers.remove(at: index)
            return true
        }
    }

    /// Suspends the task for a virtual duration.
    func sleep(_ nanoseconds: Int64) async throws {
        try Task.checkCancellation()
        let box = SleepBox()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let number = schedule(after: nanoseconds) { box.resume(with: .success(())) }
                box.set(continuation, timer: number)
            }
        } onCancel: {
            if let number = box.cancel() { _ = self.cancel(number) }
        }
    }

    /// Runs jobs until the condition holds.
    ///
    /// - Returns: whether it holds; `false` when no job and no timer is left or the limit was reached.
    func run(until isFinished: () -> Bool, limit: Int) -> Bool {
        for _ in 0..<limit {
            if isFinished() { return true }
            if let job = nextJob() {
                switch job {
                case .task(let job): job.runSynchronously(on: asUnownedTaskExecutor())
                case .work(let work): work()
                }
            } else if let action = nextTimer() {
                action()
            } else {
                return isFinished()
            }
        }
        return isFinished()
    }

    private func nextJob() -> Job? {
        state.withLock { state in
            guard !state.ready.isEmpty else { return nil }
            let index =
                switch policy {
                case .firstInFirstOut: 0
                case .uniform: state.random.below(state.ready.count)
                case .lastInFirstOut:
                    state.random.percent(80) ? state.ready.count - 1 : state.random.below(state.ready.count)
                }
            return state.ready.remove(at: index)
        }
    }

    private func nextTimer() -> (@Sendable () -> Void)? {
        state.withLock { state in
            guard
                let index = state.timers.indices.min(by: {
                    (state.timers[$0].time, state.timers[$0].number) < (state.timers[$1].time, state.timers[$1].number)
                })
            else { return nil }
            let timer = state.timers.remove(at: index)
            state.now = max(state.now, timer.time)
            return timer.action
        }
    }
}

/// The continuation of one sleep, resumed once by its timer or by cancellation.
private final class SleepBox: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Void, any Error>?
        var timer: Int?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func set(_ continuation: CheckedContinuation<Void, any Error>, timer: Int) {
        let isCancelled = state.withLock { state in
            if state.isCancelled { return true }
            (state.continuation, state.timer) = (continuation, timer)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) }
    }

    func resume(with result: Result<Void, any Error>) {
        let continuation = state.withLock { state in
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: result)
    }

    func cancel() -> Int? {
        let timer = state.withLock { state in
            state.isCancelled = true
            return state.timer
        }
        resume(with: .failure(CancellationError()))
        return timer
    }
}

/// Runs a store's work as jobs of the scheduler; writes stay in order.
final class SimulatedStoreExecutor: StoreExecutor {
    private let scheduler: SimulationScheduler
    private let writes = Mutex<[@Sendable () -> Void]>([])

    init(_ scheduler: SimulationScheduler) { self.scheduler = scheduler }

    func read(_ work: @escaping @Sendable () -> Void) { scheduler.enqueue(work) }

    func write(_ work: @escaping @Sendable () -> Void) {
        writes.withLock { $0.append(work) }
        scheduler.enqueue { [self] in writes.withLock { $0.removeFirst() }() }
    }
}
