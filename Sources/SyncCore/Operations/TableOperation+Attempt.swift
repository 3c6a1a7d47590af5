// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

extension TableOperation {
    /// What the next attempt sends, or `nil` when there is nothing left to tell the server.
    ///
    /// An ambiguous attempt is repeated to the letter, except for columns that are local-only now: only then can its
    /// answer prove whether the first one was applied. Edits made since follow once that is known.
    ///
    /// - Parameters:
    ///   - item: the item as it is in its table; `nil` when it was deleted.
    ///   - sendsChangedFieldsOnly: whether an update leaves out fields that equal the base's.
    func nextAttempt(
        item: Item?, definition: SyncTableDefinition, sendsChangedFieldsOnly: Bool
    ) -> SentSnapshot? {
        if let sent = definition.withoutLocalColumns(sent), sent.kind == kind { return sent }
        switch kind {
        case .insert:
            return item.map {
                SentSnapshot(kind: .insert, fields: definition.sentFields(of: $0), version: nil)
            }
        case .update:
            let fields = item.map {
                updatedFields(of: $0, definition: definition, changedOnly: sendsChangedFieldsOnly)
            }
            guard let fields, !fields.isEmpty || undeletes else { return nil }
            return SentSnapshot(kind: .update, fields: fields, version: version)
        case .delete:
            return SentSnapshot(kind: .delete, fields: [:], version: version)
        }
    }

    private func updatedFields(
        of item: Item, definition: SyncTableDefinition, changedOnly: Bool
    ) -> [String: ItemValue] {
        let current = definition.sentFields(of: item)
        let known = base.map(definition.sentFields) ?? [:]
        let leavesOutKnown = changedOnly && base != nil && !replaces
        var fields = leavesOutKnown ? current.filter { known[$0.key] != $0.value } : current
        for column in definition.columns where !column.isLocalOnly && current[column.name] == nil {
            if replaces || !(known[column.name] ?? .null).isNull { fields[column.name] = .null }
        }
        return fields
    }
}

extension SyncTableDefinition {
    /// The item's fields without those that never leave the device.
    func sentFields(of item: Item) -> [String: ItemValue] {
        guard columns.contains(where: \.isLocalOnly) else { return item.fields }
        return item.fields.filter { name, _ in column(named: name)?.isLocalOnly == false }
    }

    /// The attempt without columns that were made local-only after it; `nil` when nothing is left of an update.
    ///
    /// An update that sends no field would prove itself applied in any row.
    func withoutLocalColumns(_ sent: TableOperation.SentSnapshot?) -> TableOperation.SentSnapshot? {
        guard var sent else { return nil }
        let wasEmpty = sent.fields.isEmpty
        for column in columns where column.isLocalOnly { sent.fields[column.name] = nil }
        return sent.kind == .update && sent.fields.isEmpty && !wasEmpty ? nil : sent
    }
}
