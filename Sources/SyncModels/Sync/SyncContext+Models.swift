// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// What a sync has done.
public struct SyncResult: Sendable {
    /// The result of the push.
    public let push: PushResult
    /// The results of the pulls, in the order of the plans.
    public let pulls: [PullResult]
}

extension SyncContext {
    /// Sends the pending operations, then pulls the rows of the plans, parents first.
    ///
    /// ```swift
    /// try await context.sync(TodoList.all.pull(), Todo.all.pull())
    /// ```
    ///
    /// Operations that fail do not prevent the pulls, which never overwrite items with pending operations, nor do
    /// those that have ended the push, if only they may fail. An error of one plan, such as that of a table that the server
    /// does not have, does not prevent the pulls of the others. The first of these errors is thrown after the pulls, unless one
    /// ends the sync.
    ///
    /// - Throws: the errors of `push` and `pull`. After an error that concerns all plans, such as one of the network, the
    ///   service, the sign-in or the store, the remaining ones are not run. If operations have failed, any `SyncError` has
    ///   ``SyncCore/SyncError/pushResult``, and its cause is a ``SyncCore/PushFailure`` with the cause of the error.
    @discardableResult
    public func sync(_ plans: PullPlan...) async throws -> SyncResult {
        let order = try pullOrder(of: plans)
        let pushed = try await pushPermittingPulls()
        var results = [PullResult](repeating: PullResult(), count: plans.count)
        var firstError = pushed.error
        do {
            for index in order {
                var plan = plans[index]
                plan.settings.pending = .pullAnyway
                do {
                    results[index] = try await pull(plan)
                } catch let error as SyncError {
                    let failure = error.afterPush(pushed.error)
                    guard failure.permitsOtherPulls else { throw failure }
                    firstError = firstError ?? failure
                }
            }
            if let firstError { throw firstError }
        } catch {
            results.forEach(keepUnlistedRows)
            throw (error as? SyncError)?.withFailures(of: pushed.error) ?? error
        }
        return SyncResult(push: pushed.result, pulls: results)
    }

    /// Pulls the rows of a plan.
    ///
    /// - Throws: the errors of a pull of the plan's query.
    @discardableResult
    public func pull(_ plan: PullPlan) async throws -> PullResult {
        do {
            return try await pull(plan.query, queryID: try plan.queryID, settings: plan.settings)
        } catch let error as SyncError {
            throw error.naming(plan.model)
        }
    }

    /// Sends the pending operations of these models only.
    ///
    /// - Throws: the errors of `push(tables:budget:)`.
    @discardableResult
    public func push(
        _ model: any SyncModel.Type, _ others: any SyncModel.Type...
    ) async throws -> PushResult {
        let models = [model] + others
        for model in models {
            do throws(SyncError) {
                _ = try catalog.table(named: model.tableName)
            } catch {
                throw error.naming(model)
            }
        }
        return try await push(tables: Set(models.map { $0.tableName }))
    }

    /// Returns the indices of the plans, so that parents are before their children.
    ///
    /// - Throws: the error of a plan that is not valid.
    private func pullOrder(of plans: [PullPlan]) throws(SyncError) -> [Int] {
        for plan in plans {
            _ = try plan.queryID
            do throws(SyncError) {
                _ = try catalog.table(named: plan.query.table)
            } catch {
                throw error.naming(plan.model)
            }
        }
        return parentsFirst(plans)
    }

    /// Returns the indices of the plans, so that parents are before their children. A table that the store does not have counts
    /// as one without parents.
    func parentsFirst(_ plans: [PullPlan]) -> [Int] {
        let depthsOfTables = catalog.depths
        let depths = plans.map { depthsOfTables[$0.query.table] ?? 0 }
        return plans.indices.sorted { (depths[$0], $0) < (depths[$1], $1) }
    }
}

extension SyncError {
    /// Returns the error that a sync throws: with the result of its push, if that has failed.
    func withFailures(of pushError: SyncError?) -> SyncError {
        guard pushResult == nil, let result = pushError?.pushResult else { return self }
        return with(result)
    }
}
