// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension OperationAttempt {
    /// Returns the outcome of a conflict that a pull has found and that the server would not detect; `nil` when there is
    /// none.
    ///
    /// Without a version the request has no condition. A row that was deleted for good and inserted again has its first
    /// version again, so that the condition is fulfilled by another row.
    func undetectedConflict() -> AttemptOutcome? {
        guard operation.kind != .insert, let row = operation.serverItem else { return nil }
        let version = row.system.version
        switch (snapshot.version, operation.rowMadeOn(item)) {
        case (let sent?, let known?):
            let isRestarted = version?.hasSameBytes(as: sent) == true && !row.isSameState(as: known)
            // Without a base, the item can be of a later row than the version.
            let isKnown = operation.base != nil || known.system.version?.hasSameBytes(as: sent) == true
            guard isRestarted, isKnown else { return nil }
        case (_?, nil):
            return nil
        case (nil, let base?) where version == nil:
            // The table has no versions: `updatedAt` shows that the row has changed.
            guard row.system.updatedAt != nil, base.system.updatedAt != nil, !row.sharesInstant(with: base)
            else { return nil }
        case (nil, _):
            guard version != nil else { return nil }
        }
        let reason = ConflictReason.versionMismatch
        let pulled = AttemptResponse(status: reason.status, classification: .versionMismatch, row: row)
        return AttemptOutcome(pulled, proof)
    }

    /// Returns the outcome for a row that the server has again after it was missing, or deleted for good and inserted
    /// again; `nil` when it is the row that the operation was made on.
    ///
    /// Another client may have inserted the row again, with the first version again: the request's condition would be
    /// fulfilled by a row that the user has not seen.
    func conflictWithNewRow() async throws -> AttemptOutcome? {
        let fetched = try await readRow()
        if let row = fetched.row, let known = operation.rowMadeOn(item), row.isSameState(as: known) {
            return nil
        }
        return outcome(ofFetched: fetched)
    }
}
