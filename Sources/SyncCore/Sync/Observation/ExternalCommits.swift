// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// The commits of other processes on a shared store are not signalled. Each write of a context compares the store's commit
// stamp with that of its last one; while something is observed, the context writes nothing every few seconds.

extension SyncContext {
    /// How long a commit of another process may stay unnoticed by observers.
    package static let externalCommitInterval = Duration.seconds(5)

    /// Signals the commits of other processes since the last write of this context.
    package func detectExternalCommits() async throws {
        try await write { _ in }
    }

    /// Returns the next signal of this context's commits; `nil` at their end. In a store of several processes, looks for the
    /// commits of the others while it waits.
    func next(
        _ signals: inout AsyncStream<Void>.Iterator, isolation: isolated (any Actor)? = #isolation
    ) async -> Void? {
        guard isStoreShared else { return await signals.next(isolation: isolation) }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                while (try? await environment.sleep(Self.externalCommitInterval)) != nil {
                    try? await detectExternalCommits()
                }
            }
            let signal: Void? = await signals.next(isolation: isolation)
            group.cancelAll()
            return signal
        }
    }
}
