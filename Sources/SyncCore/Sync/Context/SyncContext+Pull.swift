// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension SyncContext {
    /// Fetches the server's rows that match the query, and stores them.
    ///
    /// With a query ID the pull is incremental: it fetches the rows that have changed since the last pull of that ID, stores
    /// its position with every page, and continues from there after an interruption. It starts over when the query, the
    /// server or the table's columns have changed. Without a query ID, every matching row is fetched.
    ///
    /// Items with pending operations are never overwritten.
    ///
    /// - Parameters:
    ///   - query: the rows to pull, without selection and total count; with a query ID also without order, offset and
    ///     limit. Offset and limit do not count deleted rows. The ids of the rows before the offset are read too. Without them, an
    ///     order has no effect.
    ///   - queryID: the name of an incremental pull, unique within the table, 1 to 255 characters.
    ///   - settings: how to pull.
    /// - Returns: what the pull has done, with the rows that could not be read and the operations that were not pushed.
    /// - Throws: ``SyncError/Code/pullAborted`` with the reason as its cause, ``SyncError/Code/storeFailure`` when a page
    ///   cannot be stored, of which nothing is stored then; pages stored before stay stored. The errors of
    ///   ``push(tables:budget:)``, but not ``SyncError/Code/pushCompletedWithErrors``, when the push before the pull
    ///   failed: after the pull if the push may have ended because of its operations. ``SyncError/Code/storeOfAnotherUser``,
    ///   ``SyncError/Code/invalidQueryID``, ``SyncError/Code/invalidParameter``,
    ///   ``SyncError/Code/filterNotSupported``, ``SyncError/Code/unknownTable`` before anything is sent.
    ///   `CancellationError` when the task is cancelled.
    @discardableResult
    public func pull(
        _ query: TableQuery, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) async throws -> PullResult {
        var result = PullResult()
        for try await progress in pulling(query, queryID: queryID, settings: settings) { result = progress }
        return result
    }

    /// Returns the same pull page by page, to show progress: see ``pull(_:queryID:settings:)``.
    public func pulling(
        _ query: TableQuery, queryID: String? = nil, settings: PullSettings = PullSettings()
    ) -> PullPages {
        PullPages(context: self, query: query, queryID: queryID, settings: settings)
    }

    /// Pushes before pulls, which overwrite no item that has a pending operation.
    ///
    /// - Parameter onCancellation: receives the result until then when the task is cancelled during the push.
    /// - Returns: the result, and the error that the push has thrown if rows can be pulled nevertheless: see
    ///   ``permitsPull(after:)``.
    /// - Throws: the other errors of the push.
    package func pushPermittingPulls(
        budget: PushBudget = PushBudget(), onCancellation: (PushResult) -> Void = { _ in }
    ) async throws -> (result: PushResult, error: SyncError?) {
        do {
            return (try await push(tables: nil, budget: budget, onCancellation: onCancellation), nil)
        } catch let error as SyncError {
            guard let result = error.pushResult, permitsPull(after: error) else { throw error }
            return (result, error)
        }
    }

    /// Whether rows can be pulled although a push has thrown the error: operations have failed, or what has ended the push may
    /// be about its operations only. If it is not, the pull fails too: see ``SyncError/afterPush(_:)``.
    private func permitsPull(after error: SyncError) -> Bool {
        switch error.code {
        case .pushCompletedWithErrors: return true
        case .pushAbortedService where error.retryAfter == nil:
            // Not what the operation says now: another push may have sent it since.
            return PushEnding.isTooManyServerErrors(error) || error.pushResult?.endedByOperation == true
        case .pushAbortedNetwork, .pushAbortedAuthentication:
            return error.pushResult?.endedByOperation == true
        default: return false
        }
    }
}

extension SyncError {
    /// Returns the error to throw for this error of a pull that has followed a push: that of the push if the network, the
    /// service or the sign-in fails for both.
    package func afterPush(_ pushError: SyncError?) -> SyncError {
        guard let pushError, code == .pullAborted, retryAfter == nil, let cause = cause as? SyncError else {
            return self
        }
        let code: Code? =
            switch cause.code {
            case .authenticationRequired: .pushAbortedAuthentication
            case .networkUnavailable where cause.mayRetry: .pushAbortedNetwork
            default: cause.mayRetry ? .pushAbortedService : nil
            }
        return pushError.code == code ? pushError : self
    }
}
