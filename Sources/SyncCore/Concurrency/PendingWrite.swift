// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A write that was added to the next transaction.
struct PendingWrite<T: Sendable>: Sendable {
    /// The same write without the type of its result, because generic code is slower for types that are known at run time.
    let waiting: WaitingWrite
    private let result = LastResult<T>()

    init(_ body: @escaping @Sendable (any StoreTransaction) throws -> T) {
        waiting = WaitingWrite { [result] transaction in
            let value = try body(transaction)
            result.value.withLock { $0 = value }
        }
    }

    /// What the body returned, when its changes are durable. Only one caller may wait for it.
    var value: T {
        get async throws {
            try await waiting.end()
            guard let value = result.value.withLock(\.self) else {
                preconditionFailure("A write that has succeeded has a result.")
            }
            return value
        }
    }
}

/// What the last run of a body returned.
private final class LastResult<T: Sendable>: Sendable {
    let value = Mutex(T?.none)
}

/// A write of any result type, as the writing thread uses it.
final class WaitingWrite: Sendable {
    private struct State {
        /// How the last run ended. The write may run again until it is finished.
        var outcome: Result<Void, any Error>?
        var isFinished = false
        var continuation: CheckedContinuation<Void, any Error>?
    }

    private let body: @Sendable (any StoreTransaction) throws -> Void
    private let state = Mutex(State())

    init(_ body: @escaping @Sendable (any StoreTransaction) throws -> Void) { self.body = body }

    func run(_ transaction: any StoreTransaction) throws {
        try body(transaction)
        state.withLock { $0.outcome = .success(()) }
    }

    /// Makes the error of the transaction the outcome of this write.
    func fail(with error: any Error) { state.withLock { $0.outcome = .failure(error) } }

    /// Returns the outcome to the waiting caller. Finishing again does nothing.
    func finish() { update { $0.isFinished = true } }

    /// Returns when the changes are durable. Only one caller may wait.
    func end() async throws {
        try await withCheckedThrowingContinuation { continuation in
            update { state in
                precondition(state.continuation == nil, "A caller already waits for this write.")
                state.continuation = continuation
            }
        }
    }

    /// Changes the state, then resumes the waiting caller when the write is finished.
    private func update(_ change: (inout State) -> Void) {
        let (continuation, outcome) = state.withLock { state in
            change(&state)
            guard state.isFinished, let outcome = state.outcome else {
                return (CheckedContinuation<Void, any Error>?.none, Result<Void, any Error>?.none)
            }
            defer { state.continuation = nil }
            return (state.continuation, outcome)
        }
        if let outcome { continuation?.resume(with: outcome) }
    }
}
