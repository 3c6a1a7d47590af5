// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// An update of a row that is a tombstone on the server undeletes the row first, then sends its fields.

extension TableOperation {
    /// Whether the row is a tombstone on the server, so that an update has to undelete it first.
    var undeletes: Bool { kind == .update && base?.system.deleted == true }

    /// Whether no field of the row has changed since the update was made: the update has undeleted the row before it was
    /// refused, or the row's version was not known.
    func isOfUnchanged(_ row: Item, _ definition: SyncTableDefinition) -> Bool {
        guard kind == .update, base != nil, sent == nil, undeletes || hasUnknownRow else { return false }
        let nothing = SentSnapshot(kind: .update, fields: [:], version: nil)
        return LostAnswerProof(of: self, attempt: nothing, definition: definition).isUnchanged(row)
    }

    /// Makes the unchanged row the base: see ``isOfUnchanged(_:_:)``.
    mutating func rebase(onUnchanged row: Item, _ definition: SyncTableDefinition) {
        var base = definition.withoutLocalOnlyColumns(row)
        base.system.supersededVersions = [version].compactMap(\.self)
        (self.base, version) = (base, row.system.version)
        if serverItem?.isSameState(as: row) == true { serverItem = nil }
    }
}

extension OperationAttempt {
    /// The row that the undelete of this attempt has left; `nil` if there was none.
    var undeletedRow: Item? {
        guard operation.undeletes, let row = requests.condition, !row.system.deleted else { return nil }
        return row
    }

    /// Sends the undelete that has to precede the update.
    ///
    /// - Returns: `continues` when only the fields of the update remain to be sent.
    func undelete() async throws -> AttemptOutcome {
        // Where updates replace the whole row, the undelete is the update.
        let isComplete = context.client.dialect.updatesWholeRow
        var base = base
        if isComplete, let known = base, !known.system.lostValues.isEmpty {
            let listed = try await readListedRow()
            guard let row = listed.row, row.isSameState(as: known) else { return outcome(ofFetched: listed) }
            base = row
        }
        let action = RemoteCall.Action.undelete(
            id: operation.itemID, fields: body(base: base), version: snapshot.version)
        if isComplete { requests.recordCondition(base) }
        let response = try await send(action)
        if isComplete, response.classification == .done, snapshot.version != nil {
            requests.recordApplication()
        }
        let known = state(snapshot.version, of: base)
        if let outcome = try await outcomeOfMissingTable(response, known: known) { return outcome }
        var outcome = AttemptOutcome(response, proof)
        if case .rowNeeded(let reason, let status) = outcome {
            requests.recordReason(response.message)
            outcome = try await fetchRow(toDecide: reason, status: status)
        }
        switch outcome {
        // Otherwise the row shows that an earlier attempt has undeleted and updated it.
        case .succeeded(let row?)
        where response.classification == .done && !snapshot.fields.isEmpty && !isComplete:
            return .continues(from: row)
        // An earlier request, whose response was lost, has undeleted the row, and nothing else has changed it.
        case .conflict(_, _, let row?) where proof.isUnchanged(row):
            return .continues(from: row)
        default:
            return refusal(by: response, known: known, outcome) ?? outcome
        }
    }
}
