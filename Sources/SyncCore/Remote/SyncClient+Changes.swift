// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Which tables have changed on the server: see ``SyncClient/nextChange(in:after:within:)``.
public struct ServerChange: Sendable, Hashable {
    /// The names of the tables that have changed.
    public let tables: Set<String>
    /// The mark of the state after the change, for the next call.
    public let mark: String
}

extension SyncClient {
    /// Waits until one of the tables has changed on the server, if the server has a change feed: the tables server of this
    /// package has one. It tells which tables have changed, and nothing more; a pull receives the changes.
    ///
    /// The request is `GET tables/NAME/changes?wait=SECONDS&tables=OTHERS`, answered with server-sent events after the first
    /// change.
    ///
    /// - Parameters:
    ///   - tables: the names of the tables, at least one.
    ///   - mark: the mark of the last call's result, with the same tables, so that no change between two calls is missed.
    ///     Without one, the call returns the current mark and all tables at once.
    ///   - wait: how long the server waits for a change: whole seconds, at most 60, and less than the transport's timeouts.
    /// - Returns: what has changed; `nil` if nothing has in this time.
    /// - Throws: ``SyncError``, as the methods of ``RemoteTable``: with code ``SyncError/Code/tableNotOnServer`` or
    ///   ``SyncError/Code/unreadableResponse`` when the server has no change feed, or not all of the tables; with code
    ///   ``SyncError/Code/missingTableName`` without tables. `CancellationError` when the task was cancelled.
    public func nextChange(
        in tables: [String], after mark: String? = nil, within wait: Duration = .seconds(25)
    ) async throws -> ServerChange? {
        let seconds = Int(min(max(wait, .zero), .seconds(60)).components.seconds)
        let call = RemoteCall(
            .changes(others: Array(tables.dropFirst()), after: mark, wait: seconds), table: tables.first ?? ""
        )
        guard case .change(let change) = try await table(call.table).response(to: call).body else {
            throw SyncError.notChangeFeed
        }
        return change
    }
}
