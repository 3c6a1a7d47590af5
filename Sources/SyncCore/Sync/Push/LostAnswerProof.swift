// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Decides whether the server's row is what an earlier attempt of the same operation left there.
///
/// The server may have applied an attempt whose response was lost: no response, a timeout, an unreadable body, a crash of
/// the app. The next attempt then meets the effect of the first: 409 after an insert, 412 after an update, 404 after a
/// delete. The content of the oldest attempt with unknown outcome is stored with the operation, and proves it:
///
/// - Insert, update: the server's row has every field that was sent → the operation is complete. Of an update that sends whole
///   rows, the fields that it changes count: the server may compute others, and other clients may change them.
/// - Delete: the server has no row, or a tombstone → the operation is complete.
/// - Delete that replaced an attempted insert or update: the row is what that attempt left, and no other client has
///   changed it → the delete continues with the row's version.
/// - Delete of a row that the device never received: the row is the item that was deleted → the same.
/// - Anything else is a conflict.
struct LostAnswerProof: Sendable {
    /// What the operation does now; the user may have changed it since the first attempt.
    let kind: TableOperation.Kind
    /// The content of the oldest attempt with unknown outcome; of this attempt if there was none before, because its
    /// request may have been delivered twice.
    let sent: TableOperation.SentSnapshot
    /// The server's row that the operation was made on.
    let base: Item?
    /// For a delete of a row that the device never received: the item as it was.
    let deletedItem: Item?
    let definition: SyncTableDefinition
    /// Columns whose sent value another client may have stored by the same change: see
    /// ``ConflictResolver/combinedColumns``.
    let combinedColumns: Set<String>

    /// - Parameters:
    ///   - attempt: the content of this attempt.
    ///   - combinedColumns: empty if the server may have applied an earlier request.
    init(
        of operation: TableOperation, attempt: TableOperation.SentSnapshot, definition: SyncTableDefinition,
        combinedColumns: Set<String> = []
    ) {
        kind = operation.kind
        sent = operation.sent ?? attempt
        base = operation.base
        deletedItem = operation.hasUnknownRow ? operation.deletedItem : nil
        self.definition = definition
        self.combinedColumns = combinedColumns
    }

    /// Returns the outcome of a response that reports a conflict.
    func outcome(of response: AttemptResponse, _ reason: ConflictReason) -> AttemptOutcome {
        guard response.row != nil else { return .rowNeeded(reason, status: response.status) }
        return outcome(ofRow: response, reason, status: response.status)
    }

    /// Returns the outcome of a conflict, given the server's row.
    ///
    /// - Parameters:
    ///   - response: the response with the row; `nil`, or a response without a row, when the server has none.
    ///   - status: the status of the response that reported the conflict.
    func outcome(
        ofRow response: AttemptResponse?, _ reason: ConflictReason, status: Int
    ) -> AttemptOutcome {
        guard let response, let row = response.row, !(kind == .delete && row.system.deleted) else {
            return kind == .delete ? .succeeded(nil) : .conflict(reason, status: status, serverItem: nil)
        }
        var shown = row
        shown.fields.merge(response.unreadableFields) { _, unreadable in unreadable }
        if kind == .delete, isLeftByClient(shown) { return .continues(from: row) }
        let isCombined = sent.fields.keys.contains(where: combinedColumns.contains)
        // A server that no longer has a column does not show it.
        let compared = changedFields.filter { name, _ in definition.syncs(name) || shown.shows(name) }
        guard sent.kind != .delete, !isCombined, sent.isApplied(in: shown, fields: compared) else {
            return .conflict(reason, status: status, serverItem: row)
        }
        guard kind == .delete else { return .succeeded(row) }
        // A delete must not remove changes that the user has not seen.
        let changed = ConflictReason.versionMismatch
        return .conflict(changed, status: changed.status, serverItem: row)
    }

    /// The fields that the attempt has changed; all that it has sent, if that is not known.
    private var changedFields: [String: ItemValue] {
        guard sent.kind == .update, let base, base.system.version == sent.version else { return sent.fields }
        let known = base.system.undeclared.merging(definition.syncedFields(of: base)) { $1 }
        let changed = sent.fields.filter { (known[$0.key] ?? .null) != $0.value }
        // An undelete without a change is applied if the row is not deleted.
        return changed.isEmpty && !base.system.deleted ? sent.fields : changed
    }

    /// Whether a row that is to be deleted is what this client has left there, without a change of another client.
    func isLeftByClient(_ row: Item) -> Bool {
        // The attempt has undeleted the row, before it was to change it.
        if sent.kind == .update, base?.system.deleted == true, isUnchanged(row) { return true }
        if sent.kind == .delete { return deletedItem.map { definition.isShown($0.fields, as: row) } ?? false }
        return sent.isApplied(in: row) && isUnchanged(row, after: sent.fields)
    }

    /// Whether the row is the base with these changes, or the changes alone without a base: no other client has changed
    /// it.
    ///
    /// For an update, columns that the row lacks are ignored, and so are those that only the row has and the update does not
    /// send: the server may not have them, may not show them after a write, or may have computed them.
    func isUnchanged(_ row: Item, after changes: [String: ItemValue] = [:]) -> Bool {
        guard !row.system.deleted else { return false }
        let known = base.map(definition.syncedFields) ?? [:]
        let expected = known.merging(changes) { _, changed in changed }
        guard kind == .update, !sent.fields.isEmpty else { return definition.isShown(expected, as: row) }
        return definition.syncedColumns.map(\.name).allSatisfy { name in
            guard let shown = row.content[name] else { return true }
            if let value = expected[name] { return value.isShown(as: shown) }
            return sent.fields[name] == nil || shown.isNull
        }
    }
}

extension Item {
    /// Whether the server's row has the column, which may be undeclared.
    fileprivate func shows(_ column: String) -> Bool {
        content[column] != nil || system.undeclaredValue(ofColumn: column) != nil
    }
}

extension TableOperation.SentSnapshot {
    /// Whether the row is what this attempt left: it is not deleted, and has the fields as the server may show them. The
    /// values of columns that are no longer synced are undeclared.
    ///
    /// - Parameter changed: the fields that count; by default all that were sent.
    func isApplied(in row: Item, fields changed: [String: ItemValue]? = nil) -> Bool {
        !row.system.deleted
            && (changed ?? fields).allSatisfy { name, value in
                value.isShown(
                    as: row.content[name] ?? row.system.undeclaredValue(ofColumn: name)?.read(like: value)
                        ?? .null)
            }
    }
}

extension SyncTableDefinition {
    /// Whether the row has these fields as the server may show them, and no others.
    func isShown(_ fields: [String: ItemValue], as row: Item) -> Bool {
        columns.allSatisfy { column in
            let (sent, shown) = (fields[column.name] ?? .null, row.content[column.name] ?? .null)
            return column.isLocalOnly || sent.isShown(as: shown)
        }
    }
}
