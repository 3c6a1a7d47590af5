// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

// The commits of other processes on a shared store are not signalled. Each write of a context compares the store's commit
// stamp with that of its last one; while something is observed, the context commits an empty write every few seconds.

/// Looks for commits of other processes.
final class ExternalCommitCheck: Sendable {
    private struct State {
        weak var write: PendingWrite<Void>?
    }

    private let state = Mutex(State())

    /// Begins a write without changes, unless an earlier one is waiting, for example for a lock of a stopped process.
    func begin(in store: GroupCommitWriter) {
        state.withLock { state in
            if state.write == nil { state.write = store.begin { _ in } }
        }
    }
}

extension SyncContext {
    /// How long a commit of another process may stay unnoticed by observers.
    package static let externalCommitInterval = Duration.seconds(5)

    /// Signals the commits of other processes since the last write of this context. Does not wait for the store.
    package func detectExternalCommits() { externalCommitCheck.begin(in: store) }

    /// Returns the next signal of this context's commits; `nil` at their end. In a store of several processes, looks for the
    /// commits of the others while it waits.
    func next(
        _ signals: inout AsyncStream<Void>.Iterator, isolation: isolated (any Actor)? = #isolation
    ) async -> Void? {
        guard isStoreShared else { return await signals.next(isolation: isolation) }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while (try? await environment.sleep(Self.externalCommitInterval)) != nil {
                    detectExternalCommits()
                }
            }
            let signal: Void? = await signals.next(isolation: isolation)
            group.cancelAll()
            return signal
        }
    }
}
