// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// An update or a delete never overwrites a row that the device has not received: without its version, the request would
// have no condition. The row is fetched first. It is a conflict unless it is what the device itself has left.

extension TableOperation {
    /// Whether this is an update of an item whose row the server has never confirmed.
    var isUnconfirmed: Bool { kind == .update && base == nil && version == nil }

    /// Whether the device has never received the row that the operation changes. Examples are the delete of an item whose
    /// insert got no response, and a refused insert that the app has changed to an update.
    ///
    /// A row with times and without a version may be unknown too: an app can fill the times of its own table.
    var hasUnknownRow: Bool { kind != .insert && version == nil && base?.system.version == nil }
}

extension TableOperation {
    /// Returns the row that a pull has stored with a delete, if it is what the device itself has left on the server.
    func rowLeftByClient(_ definition: SyncTableDefinition) -> Item? {
        guard kind == .delete, let row = serverItem else { return nil }
        let attempt = SentSnapshot(kind: .delete, fields: [:], version: nil)
        let proof = LostAnswerProof(of: self, attempt: attempt, definition: definition)
        return proof.isLeftByClient(row) ? row : nil
    }
}

extension OperationAttempt {
    /// Fetches the row, and returns what it means for the operation.
    func outcomeOfUnknownRow() async throws -> AttemptOutcome {
        let outcome = try await fetchRow(toDecide: .rowExists, status: ConflictReason.rowExists.status)
        // A table without system columns, or whose system columns the app has removed, or a server that has not shown them after
        // a write: the row is the one that the operation was made on if it has the same content.
        if case .conflict(_, _, let row?) = outcome, operation.base != nil, proof.isUnchanged(row) {
            return .continues(from: row)
        }
        return outcome
    }
}

extension SystemProperties {
    /// Whether no property of the server's row is known.
    var isUnknown: Bool { version == nil && updatedAt == nil && createdAt == nil }

    /// Whether the server has sent the row, also if the app has removed the system columns from its table since. An
    /// app can fill the times of its own table, so that they show nothing.
    var isOfServer: Bool { version != nil || hasLostVersion }
}
