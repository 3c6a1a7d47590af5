// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A limited number of connections, which requests use in the order in which they ask for one.
///
/// Writes can wait for the locks of others. They use at most three quarters of the connections, so that reads go on. Reads can
/// take long, and leave one connection to writes.
final class ConnectionPool: Sendable {
    private let parameters: PostgreSQLParameters
    private let size: Int
    private let state: Mutex<State>

    /// What a request does.
    enum Use { case read, write }

    private struct State {
        /// How many more workers can be used at the same time.
        var free: Int
        /// How many of them by reads, and by writes.
        var freeForReads: Int
        var freeForWrites: Int
        var idle: [PostgreSQLWorker] = []
        var busy: [PostgreSQLWorker] = []
        var waiters: [Waiter] = []
        var lastWaiter = 0
        var isClosed = false

        func canBegin(_ use: Use) -> Bool { free > 0 && (use == .read ? freeForReads : freeForWrites) > 0 }

        private mutating func count(_ change: Int, _ use: Use) {
            free += change
            switch use {
            case .read: freeForReads += change
            case .write: freeForWrites += change
            }
        }

        /// Takes a worker for a use that can begin.
        mutating func begin(_ use: Use, _ parameters: PostgreSQLParameters) -> PostgreSQLWorker {
            count(-1, use)
            let worker = idle.popLast() ?? PostgreSQLWorker(parameters)
            busy.append(worker)
            return worker
        }

        mutating func end(_ use: Use, _ worker: PostgreSQLWorker) {
            count(1, use)
            busy.removeAll { $0 === worker }
            if !isClosed { idle.append(worker) }
        }
    }

    private struct Waiter {
        let id: Int
        let use: Use
        let continuation: CheckedContinuation<PostgreSQLWorker, any Error>
        /// Ends the wait after its limit.
        let timer: Task<Void, Never>?

        func resume(with result: Result<PostgreSQLWorker, any Error>) {
            timer?.cancel()
            continuation.resume(with: result)
        }
    }

    struct Closed: Error {}

    init(_ parameters: PostgreSQLParameters, size: Int) {
        self.parameters = parameters
        self.size = size
        let keptFromWrites = (size - 1) / 4 + 1
        state = Mutex(
            State(free: size, freeForReads: max(1, size - 1), freeForWrites: max(1, size - keptFromWrites)))
    }

    /// Runs the body on the thread of a worker that no other body uses.
    ///
    /// - Parameter limit: how long it waits for a worker; `nil` for no limit.
    /// - Throws: ``PostgreSQLError/noFreeConnection(for:)`` after this time.
    func run<Result: Sendable>(
        _ use: Use, waitingAtMost limit: Duration? = nil,
        _ body: @escaping @Sendable (PostgreSQLWorker) throws -> Result
    ) async throws -> Result {
        let worker = try await acquire(use, waitingAtMost: limit)
        defer { release(worker, use) }
        return try await worker.run(body)
    }

    /// The number of connections in use and of requests that wait for one.
    var useCount: Int { state.withLock { size - $0.free + $0.waiters.count } }

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Closes the connections that are not in use now, and the others after their use.
    func close() {
        let (waiters, idle) = state.withLock { state in
            state.isClosed = true
            return (exchange(&state.waiters, with: []), exchange(&state.idle, with: []))
        }
        for waiter in waiters { waiter.resume(with: .failure(Closed())) }
        for worker in idle { worker.disconnect() }
    }

    /// Closes the pool, and ends the calls that wait for the server.
    func interrupt() {
        close()
        for worker in state.withLock({ $0.busy }) { worker.interrupt() }
    }

    private func acquire(_ use: Use, waitingAtMost limit: Duration?) async throws -> PostgreSQLWorker {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<PostgreSQLWorker, any Error>? in
                    if state.isClosed { return .failure(Closed()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.canBegin(use) else {
                        let timer = limit.map { startTimer(for: id, use, $0) }
                        state.waiters.append(
                            Waiter(id: id, use: use, continuation: continuation, timer: timer))
                        return nil
                    }
                    return .success(state.begin(use, parameters))
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            endWait(id, CancellationError())
        }
    }

    /// Starts a task that ends the wait after the limit.
    private func startTimer(for id: Int, _ use: Use, _ limit: Duration) -> Task<Void, Never> {
        Task {
            do { try await Task.sleep(for: limit) } catch { return }
            endWait(id, PostgreSQLError.noFreeConnection(for: use))
        }
    }

    /// Ends the wait of a request, if it still waits.
    private func endWait(_ id: Int, _ error: any Error) {
        let waiter = state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        waiter?.resume(with: .failure(error))
    }

    private func release(_ worker: PostgreSQLWorker, _ use: Use) {
        let (next, isClosed) = state.withLock { state in
            state.end(use, worker)
            let index = state.waiters.firstIndex { state.canBegin($0.use) }
            let waiter = index.map { state.waiters.remove(at: $0) }
            return (waiter.map { ($0, state.begin($0.use, parameters)) }, state.isClosed)
        }
        if let (waiter, worker) = next { waiter.resume(with: .success(worker)) }
        if isClosed { worker.disconnect() }
    }
}
