// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Returns a stream with a signal after each local change and each decision about an operation, also after those of
    /// other processes as far as they are detected. The commits of pushes and pulls are not signalled. The stream ends
    /// when the context closes.
    package func localChanges() -> AsyncStream<Void> {
        commits.signals(of: [.localChanges], beginsAtOnce: false)
    }

    /// Returns a stream with a signal after each commit that changes operations. The stream ends when the context
    /// closes.
    package func operationChanges() -> AsyncStream<Void> {
        commits.signals(of: [.status], beginsAtOnce: false)
    }

    /// Whether the context is closed.
    package var isClosed: Bool { commits.isFinished }
}
