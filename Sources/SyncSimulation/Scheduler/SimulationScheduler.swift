// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore
import Synchronization

/// Runs every job of a simulated system on the calling thread, in an order drawn from the seed, on a virtual clock.
final class SimulationScheduler: TaskExecutor {
    private enum Job: Sendable {
        case task(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private struct ReadyJob: Sendable {
        let job: Job
        let priority: UInt64
        /// The index of the job's task among those with priorities.
        let task: Int?
    }

    private struct Timer {
        let time: Int64
        let number: Int
        let action: @Sendable () -> Void
    }

    private struct State {
        var ready: [ReadyJob] = []
        var timers: [Timer] = []
        var now: Int64 = 0
        var lastTimer = 0
        var random: SimulationRandom
        /// The priorities of tasks, by the order in which they first ran.
        var priorities: [UInt64] = []
        var tasks: [String: Int] = [:]
    }

    private let state: Mutex<State>
    private let mode: SimulationMode
    /// The virtual time at which every simulation starts, in seconds since 1970.
    private static let start: Int64 = 1_700_000_000
    /// One in this number of steps lowers the priority of its task.
    private static let stepsPerPriorityChange = 40

    init(seed: UInt64, mode: SimulationMode) {
        state = Mutex(State(random: SimulationRandom(seed, SimulationRandom.Stream.schedule.rawValue)))
        self.mode = mode
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { state in
            guard mode == .priorities else {
                state.ready.append(ReadyJob(job: .task(job), priority: 0, task: nil))
                return
            }
            // The description has the only public identity of a job's task.
            let name = String(describing: job)
            let task = state.tasks[name] ?? state.priorities.count
            if task == state.priorities.count {
                state.tasks[name] = task
                state.priorities.append(state.random.next())
            }
            state.ready.append(ReadyJob(job: .task(job), priority: state.priorities[task], task: task))
        }
    }

    /// Runs the work as a job.
    func enqueue(_ work: @escaping @Sendable () -> Void) {
        state.withLock { state in
            let priority = mode == .priorities ? state.random.next() : 0
            state.ready.append(ReadyJob(job: .work(work), priority: priority, task: nil))
        }
    }

    /// Runs the work after a number of jobs that do nothing, so that others run before it.
    func enqueue(after steps: Int, _ work: @escaping @Sendable () -> Void) {
        guard steps > 0 else { return work() }
        enqueue { self.enqueue(after: steps - 1, work) }
    }

    /// Virtual nanoseconds since the start.
    var nanoseconds: Int64 { state.withLock { $0.now } }

    /// Virtual nanoseconds since 1970.
    var nanosecondsSince1970: Int64 { Self.start * 1_000_000_000 + nanoseconds }

    /// The virtual time.
    var now: Timestamp { now(ahead: 0) }

    /// Returns the time of a clock that is a number of nanoseconds ahead.
    func now(ahead offset: Int64) -> Timestamp {
        let nanoseconds = nanoseconds + offset
        return Timestamp(
            seconds: Self.start + nanoseconds / 1_000_000_000,
            nanoseconds: Int32(nanoseconds % 1_000_000_000),
            fractionDigits: 7) ?? .unixEpoch
    }

    /// Runs the action after a delay.
    ///
    /// - Returns: the timer's number, for ``cancel(_:)``.
    @discardableResult
    func schedule(after delay: Int64, _ action: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.lastTimer += 1
            state.timers.append(
                Timer(time: state.now + max(0, delay), number: state.lastTimer, action: action))
            return state.lastTimer
        }
    }

    /// Removes a timer.
    func cancel(_ number: Int) {
        state.withLock { state in state.timers.removeAll { $0.number == number } }
    }

    /// Runs jobs until the condition holds. The clock advances only when no job is ready.
    ///
    /// - Returns: whether it holds; `false` when no job and no timer is left, or after `maxSteps`.
    func run(until isFinished: () -> Bool, maxSteps: Int) -> Bool {
        for _ in 0..<maxSteps {
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

    /// Runs jobs until no job and no timer is left, so that no task remains suspended.
    ///
    /// - Returns: `false` when some are left after `maxSteps`.
    func runToEnd(maxSteps: Int) -> Bool {
        _ = run(until: { false }, maxSteps: maxSteps)
        return state.withLock { $0.ready.isEmpty && $0.timers.isEmpty }
    }

    private func nextJob() -> Job? {
        state.withLock { state in
            guard !state.ready.isEmpty else { return nil }
            switch mode {
            case .keyed: return state.ready.removeFirst().job
            case .uniform, .swarm, .solo:
                return state.ready.remove(at: state.random.below(state.ready.count)).job
            case .priorities:
                let index =
                    state.ready.indices.max { state.ready[$0].priority < state.ready[$1].priority } ?? 0
                let next = state.ready.remove(at: index)
                if let task = next.task, state.random.below(Self.stepsPerPriorityChange) == 0 {
                    state.priorities[task] /= 1024
                }
                return next.job
            }
        }
    }

    private func nextTimer() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let first = state.timers.indices.min {
                (state.timers[$0].time, state.timers[$0].number) < (
                    state.timers[$1].time, state.timers[$1].number
                )
            }
            guard let first else { return nil }
            let timer = state.timers.remove(at: first)
            state.now = max(state.now, timer.time)
            return timer.action
        }
    }
}
