// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

// The commits of other processes on a shared store are not signalled. Each write of a context compares the store's commit
// stamp with that of its last one; while something is observed, the context commits an empty write every few seconds.

/// Looks for commits of other processes. The observers of a context share its checks.
final class ExternalCommitCheck: Sendable {
    private struct State {
        weak var write: WaitingWrite?
        var count = 0
        /// The uptime of the last check.
        var time: Duration?
    }

    private let state = Mutex(State())

    /// The number of checks that have begun.
    var count: Int { state.withLock { $0.count } }

    /// Begins a write without changes, unless an earlier one is waiting, for example for a lock of a stopped process.
    ///
    /// - Parameter last: the number of checks after which this one is the next; `nil` if it begins in any case.
    /// - Returns: the number of checks that have begun.
    @discardableResult func begin(
        in store: GroupCommitWriter, at uptime: Duration, after last: Int? = nil
    ) -> Int {
        state.withLock { state in
            guard last ?? state.count == state.count else { return state.count }
            state.count += 1
            state.time = uptime
            if state.write == nil { state.write = store.begin { _ in }.waiting }
            return state.count
        }
    }

    /// Returns the time until the next check, so that observers which began at different times check together.
    func delay(at uptime: Duration) -> Duration {
        let interval = SyncContext.externalCommitInterval
        let age = state.withLock(\.time).map { uptime - $0 } ?? .zero
        return age > .zero && age < interval ? interval - age : interval
    }
}

extension SyncContext {
    /// How long a commit of another process may stay unnoticed by observers.
    package static let externalCommitInterval = Duration.seconds(5)

    /// Signals the commits of other processes since the last write of this context. Does not wait for the store.
    package func detectExternalCommits() { externalCommitCheck.begin(in: store, at: environment.uptime()) }

    /// Returns the next signal of this context's commits; `nil` at their end. In a store of several processes, looks for the
    /// commits of the others while it waits.
    func next(
        _ signals: inout AsyncStream<Void>.Iterator, isolation: isolated (any Actor)? = #isolation
    ) async -> Void? {
        guard isStoreShared else { return await signals.next(isolation: isolation) }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await checkForExternalCommits() }
            let signal: Void? = await signals.next(isolation: isolation)
            group.cancelAll()
            return signal
        }
    }

    /// Looks for commits of other processes until the task is cancelled, unless another observer has done so meanwhile.
    private func checkForExternalCommits() async {
        var count = externalCommitCheck.count
        while (try? await environment.sleep(externalCommitCheck.delay(at: environment.uptime()))) != nil {
            count = externalCommitCheck.begin(in: store, at: environment.uptime(), after: count)
        }
    }
}
