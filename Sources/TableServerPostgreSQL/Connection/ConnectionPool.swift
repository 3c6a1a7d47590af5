// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// At most so many connections, which requests use in the order in which they ask for one.
final class ConnectionPool: Sendable {
    private let parameters: PostgreSQLParameters
    private let size: Int
    private let state: Mutex<State>

    private struct State {
        /// How many more workers can be used at the same time.
        var free: Int
        var idle: [PostgreSQLWorker] = []
        var waiters: [Waiter] = []
        var lastWaiter = 0
        var isClosed = false
    }

    private struct Waiter {
        let id: Int
        let continuation: CheckedContinuation<PostgreSQLWorker, any Error>
    }

    struct Closed: Error {}

    init(_ parameters: PostgreSQLParameters, size: Int) {
        self.parameters = parameters
        self.size = size
        state = Mutex(State(free: size))
    }

    /// Runs the body on the thread of a worker that no other body uses.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (PostgreSQLWorker) throws -> Result
    ) async throws -> Result {
        let worker = try await acquire()
        defer { release(worker) }
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
        for waiter in waiters { waiter.continuation.resume(throwing: Closed()) }
        for worker in idle { worker.disconnect() }
    }

    private func acquire() async throws -> PostgreSQLWorker {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<PostgreSQLWorker, any Error>? in
                    if state.isClosed { return .failure(Closed()) }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    guard state.free > 0 else {
                        state.waiters.append(Waiter(id: id, continuation: continuation))
                        return nil
                    }
                    state.free -= 1
                    return .success(state.idle.popLast() ?? PostgreSQLWorker(parameters))
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    private func release(_ worker: PostgreSQLWorker) {
        let (waiter, isClosed) = state.withLock { state -> (Waiter?, Bool) in
            if !state.waiters.isEmpty { return (state.waiters.removeFirst(), false) }
            state.free += 1
            if !state.isClosed { state.idle.append(worker) }
            return (nil, state.isClosed)
        }
        waiter?.continuation.resume(returning: worker)
        if isClosed { worker.disconnect() }
    }
}
