// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension TodoApp {
    /// Runs a push and shows the number of changes that are left.
    func showingProgress(_ push: () async throws -> PushResult) async throws -> PushResult {
        let count = try await context.pendingOperationCount()
        guard count > 0, console.rewritesLines || count >= ProgressLine.plainInterval else {
            return try await push()
        }
        var line = ProgressLine(console, "Pushing… changes left: ", from: count)
        line.show(count)
        let (context, initialLine) = (context, line)
        let updates = Task {
            var line = initialLine
            // An error of the status ends only the progress; the push reports its own errors.
            do {
                for try await status in context.observeStatus() { line.show(status.pendingOperations) }
            } catch {}
        }
        let outcome: Result<PushResult, any Error>
        do {
            outcome = .success(try await push())
        } catch {
            outcome = .failure(error)
        }
        updates.cancel()
        await updates.value
        line.clear()
        return try outcome.get()
    }
}
