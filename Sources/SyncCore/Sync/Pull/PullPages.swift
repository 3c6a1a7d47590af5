// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// A pull as a sequence of its pages: each step stores one page and returns what the pull has done so far.
///
/// ```swift
/// for try await progress in context.pulling(query, queryID: "open") {
///     print("\(progress.received) rows")
/// }
/// ```
///
/// The next page is fetched while one is being stored; if that fails, the next step throws the error. Leaving the loop early ends
/// the pull between two pages; the next incremental pull with the query ID continues from there.
public struct PullPages: AsyncSequence, Sendable {
    let context: SyncContext
    let query: TableQuery
    let queryID: String?
    let settings: PullSettings

    /// Returns an iterator, which starts the pull with its first step.
    public func makeAsyncIterator() -> Iterator {
        Iterator(pages: self)
    }

    /// Steps through the pages. It ends after the first error.
    public struct Iterator: AsyncIteratorProtocol {
        private let pages: PullPages
        private var run: PullRun?
        private var hasEnded = false

        init(pages: PullPages) {
            self.pages = pages
        }

        /// Stores the next page.
        ///
        /// - Returns: what the pull has done so far; `nil` when it has finished.
        /// - Throws: as ``SyncContext/pull(_:queryID:settings:)``.
        public mutating func next() async throws -> PullResult? {
            guard !hasEnded else { return nil }
            hasEnded = true
            var run = self.run
            do {
                if run == nil { run = try await pages.start() }
                let progress = try await run?.step()
                hasEnded = progress == nil
                if hasEnded { run?.end(nil) }
                self.run = hasEnded ? nil : run
                return progress
            } catch {
                run?.end(error)
                self.run = nil
                throw error
            }
        }
    }

    private func start() async throws -> PullRun {
        try await context.withStoreErrors { try await context.confirmStore(forWriting: true) }
        let pull = try ValidatedPull(query, queryID: queryID, settings: settings, in: context)
        return try await PullRun.start(pull, in: context)
    }
}
