// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Completes a confirmed change when a pull has received another state of the row with the same `updatedAt`.
extension OperationSender {
    /// Fetches the row, because it is unknown whether the pulled state is later than the one in the response, and stores it.
    ///
    /// If it cannot be fetched, the operation is complete all the same: sent again, a count would be added twice. The pulled
    /// state then counts as the later one, and the next pull reads the table again.
    ///
    /// - Parameter row: the row in the response that confirms the change.
    func storeNewest(
        after row: Item, _ attempt: OperationAttempt, _ willSend: @Sendable (SeenChange) -> Void
    ) async throws -> Result {
        let fetched: OperationAttempt.Newest
        do { fetched = try await attempt.fetchNewest(after: row) } catch {
            _ = try? await completeUnread(attempt, with: row)
            throw error
        }
        switch fetched {
        case .row(let newest): return try await store(row, newest: newest, of: attempt, willSend: willSend)
        case .notRead(let ending):
            let item = try await completeUnread(attempt, with: row)
            if let ending { throw ending.error }
            return attempt.followsUnknownOutcome
                ? try await sendEdits(after: item, willSend: willSend) : .completed(item)
        }
    }

    private func completeUnread(_ attempt: OperationAttempt, with row: Item) async throws -> Item? {
        let (context, definition, id) = (context, definition, operationID)
        return try await context.write(keepsMarks: true) { transaction in
            let found = try transaction.operationAndNext(
                id: id, forItem: attempt.operation.itemID, in: definition.name)
            guard let (operation, behind) = found else { return nil }
            try context.recordResult(operation.keptRow(after: row) ?? row, of: operation, in: transaction)
            try transaction.recordRowToPull(in: definition.name, context.tablesToPull)
            return try completion(in: transaction).complete(
                operation, before: behind, with: row, sent: attempt.proof.sent,
                replacing: attempt.requests.replaced)
        }
    }
}

extension OperationAttempt {
    fileprivate enum Newest {
        case row(Item)
        /// The row cannot be fetched, and the push may have to end.
        case notRead(ending: PushEnding?)
    }

    /// - Throws: `CancellationError`.
    fileprivate func fetchNewest(after row: Item) async throws -> Newest {
        let fetched: AttemptResponse
        do { fetched = try await send(.read(id: operation.itemID)) } catch let failure as SyncError {
            return .notRead(ending: PushEnding(sending: failure))
        }
        context.unanswered.recordAnswer(to: answeredID)
        let outcome = outcome(ofFetched: fetched)
        switch outcome {
        case .succeeded, .conflict, .continues:
            // A tombstone is not returned by id.
            let tombstone = operation.serverItem.flatMap { $0.system.deleted ? $0 : nil }
            return .row(fetched.row ?? tombstone ?? row)
        default: return .notRead(ending: PushEnding(outcome, now: context.environment.now()))
        }
    }
}
