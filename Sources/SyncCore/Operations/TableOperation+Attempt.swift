// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableOperation {
    /// Returns what the next attempt sends; `nil` when the server has every change already.
    ///
    /// An attempt with unknown outcome is repeated exactly: only then can the response prove whether the first attempt was
    /// applied. Edits made since are sent after that. An attempt with a column that is no longer synced is not repeated: the
    /// server's row proves it before anything else is sent.
    ///
    /// - Parameters:
    ///   - item: the stored item; `nil` when it was deleted.
    ///   - sendsChangedFieldsOnly: whether an update leaves out fields that equal the base's.
    package func nextAttempt(
        item: Item?, definition: SyncTableDefinition, sendsChangedFieldsOnly: Bool
    ) -> SentSnapshot? {
        let earlier = sent?.kind == kind ? sent : nil
        if let earlier, definition.canRepeat(earlier) { return earlier }
        let new = newAttempt(
            item: item, definition: definition, sendsChangedFieldsOnly: sendsChangedFieldsOnly)
        // Even without anything to send, the earlier attempt is to be proven.
        return new ?? earlier.map { SentSnapshot(kind: $0.kind, fields: [:], version: version) }
    }

    /// Whether an attempt with unknown outcome must not be repeated: only the server's row shows whether it was applied.
    ///
    /// Either one of its columns is no longer synced, or the tables service has refused it, or failed, or answers other requests
    /// only, and the user has changed the item since.
    ///
    /// - Parameter isUnanswered: whether only the requests of this operation get no answer.
    func mustNotRepeatAttempt(
        item: Item?, definition: SyncTableDefinition, sendsChangedFieldsOnly: Bool, isUnanswered: Bool
    ) -> Bool {
        guard let sent, sent.kind == kind else { return false }
        if !definition.canRepeat(sent) { return true }
        guard isUnanswered || lastStatus.map({ ResponseClassification.endsWrite($0, kind) }) == true else {
            return false
        }
        let corrected = newAttempt(
            item: item, definition: definition, sendsChangedFieldsOnly: sendsChangedFieldsOnly)
        return corrected?.fields != sent.fields
    }

    /// Returns what the next attempt sends, if an earlier one that must not be repeated turns out not to be applied.
    func plannedAttempt(
        item: Item?, definition: SyncTableDefinition, sendsChangedFieldsOnly: Bool, isUnanswered: Bool
    ) -> SentSnapshot? {
        var operation = self
        let mustNotRepeat = mustNotRepeatAttempt(
            item: item, definition: definition, sendsChangedFieldsOnly: sendsChangedFieldsOnly,
            isUnanswered: isUnanswered)
        if mustNotRepeat { operation.sent = nil }
        return operation.nextAttempt(
            item: item, definition: definition, sendsChangedFieldsOnly: sendsChangedFieldsOnly)
    }

    /// Returns what proves a lost response to this attempt: the oldest attempt with unknown outcome.
    ///
    /// An earlier delete, or an update of a row that is gone, shows nothing about an attempt to write the row.
    func content(toProve attempt: SentSnapshot) -> SentSnapshot {
        guard let sent, sent.kind != .delete, !(sent.kind == .update && kind == .insert) else {
            return attempt
        }
        return sent
    }

    /// Returns the attempt that sends the present change.
    private func newAttempt(
        item: Item?, definition: SyncTableDefinition, sendsChangedFieldsOnly: Bool
    ) -> SentSnapshot? {
        switch kind {
        case .insert:
            return item.map {
                SentSnapshot(kind: .insert, fields: definition.syncedFields(of: $0), version: nil)
            }
        case .update:
            guard let item else { return nil }
            var fields = updatedFields(of: item, definition: definition, changedOnly: true)
            // Without fields, too, the server may lack the row of an item that it has never confirmed.
            guard !fields.isEmpty || undeletes || isUnconfirmed else { return nil }
            if !sendsChangedFieldsOnly {
                fields = updatedFields(of: item, definition: definition, changedOnly: false)
            }
            return SentSnapshot(kind: .update, fields: fields, version: version)
        case .delete:
            return SentSnapshot(kind: .delete, fields: [:], version: version)
        }
    }

    private func updatedFields(
        of item: Item, definition: SyncTableDefinition, changedOnly: Bool
    ) -> [String: ItemValue] {
        // A value that the app has removed from its table is no edit.
        let lost = replaces ? [:] : (base ?? item).system.lostValues
        let synced = definition.syncedFields(of: item)
        let current = lost.isEmpty ? synced : synced.filter { lost[$0.key] != $0.value }
        let known = base.map(definition.syncedFields) ?? [:]
        let sendsChangedOnly = changedOnly && base != nil && !replaces
        var fields = current.filter { name, value in
            // The server has another value now, which the column cannot hold: the user has not changed it.
            if !sendsChangedOnly, replaces || base?.hasUnreadableValue(ofColumn: name) != true { return true }
            return known[name] != value
        }
        for column in definition.syncedColumns where current[column.name] == nil {
            if let value = lost[column.name], (item.content[column.name] ?? .null) == value { continue }
            // Without a base, the app may have removed the value from its own table.
            let isRemoval = replaces || base == nil || !(known[column.name] ?? .null).isNull
            if isRemoval { fields[column.name] = .null }
        }
        return fields
    }
}
