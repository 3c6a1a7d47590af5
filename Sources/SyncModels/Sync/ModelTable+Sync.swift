// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

extension ModelTable {
    /// Fetches the server's rows that match the query into the store: see `SyncContext.pull`.
    ///
    /// - Parameters:
    ///   - query: the rows to pull.
    ///   - id: the query ID; by default one that equal queries have, so that the pull is incremental.
    ///   - settings: the settings of the pull.
    /// - Throws: the errors of `SyncContext.pull`.
    @discardableResult
    public func pull(
        _ query: ModelQuery<Model> = Model.all, id: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        var plan = query.pull(id: id)
        plan.settings = settings
        return try await context.pull(plan)
    }

    /// Removes local items without deleting them on the server: see `SyncContext.purge`.
    ///
    /// - Parameters:
    ///   - query: the items to remove.
    ///   - pending: whether pending operations of the table are pushed or discarded, or refuse the purge.
    ///   - keepingDeltaTokens: whether later incremental pulls continue from their delta tokens.
    /// - Throws: the errors of `SyncContext.purge`. Nothing is removed when the call throws.
    public func purge(
        _ query: ModelQuery<Model> = Model.all, pending: SyncContext.PurgePolicy = .push,
        keepingDeltaTokens: Bool = false
    ) async throws {
        do {
            try await context.purge(
                try query.tableQuery(), pending: pending, keepingDeltaTokens: keepingDeltaTokens)
        } catch let error as SyncError {
            throw error.naming(Model.self)
        }
    }
}
