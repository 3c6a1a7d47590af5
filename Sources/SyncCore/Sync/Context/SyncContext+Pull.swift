// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Fetches the server's rows that match the query into the store.
    ///
    /// With a query ID the pull is incremental: it fetches what has changed since the last pull of that ID, stores its
    /// progress with every page, and goes on from there after an interruption. A changed query under the same ID, another
    /// server and a newly declared column start over. Without a query ID, every matching row is fetched.
    ///
    /// Items with pending operations are never overwritten.
    ///
    /// - Parameters:
    ///   - query: which rows; without selection and total count, and with a query ID without order, offset and limit.
    ///   - queryID: the pull's name within the table, 1 to 255 characters.
    ///   - settings: how to pull.
    /// - Returns: what the pull has done, with the rows that could not be read and the operations that could not be
    ///   pushed.
    /// - Throws: ``SyncError/Code/pullAborted`` with the reason as its cause; pages stored before stay.
    ///   The errors of ``push(tables:budget:)``, but not ``SyncError/Code/pushCompletedWithErrors``, when pushing first
    ///   failed. ``SyncError/Code/storeOfAnotherUser``, ``SyncError/Code/invalidQueryID``,
    ///   ``SyncError/Code/invalidParameter``, ``SyncError/Code/filterNotSupported``, ``SyncError/Code/unknownTable``
    ///   before anything is sent. `CancellationError` when the task is cancelled.
    @discardableResult
    public func pull(
        _ query: TableQuery, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        var result = PullResult()
        for try await progress in pulling(query, queryID: queryID, settings: settings) { result = progress }
        return result
    }

    /// The same pull page by page, for showing progress: see ``pull(_:queryID:settings:)``.
    public func pulling(
        _ query: TableQuery, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) -> PullPages {
        PullPages(context: self, query: query, queryID: queryID, settings: settings)
    }
}
