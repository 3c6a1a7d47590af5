// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

// Local-only columns exist on the device alone: they are never sent, also not from what was stored before the column
// became local-only, and a server's row does not change them.

extension SyncTableDefinition {
    /// The columns that the server has too.
    var syncedColumns: [SyncColumn] { columns.filter { !$0.isLocalOnly } }

    /// Returns the item's fields without local-only columns.
    func syncedFields(of item: Item) -> [String: ItemValue] {
        guard columns.contains(where: \.isLocalOnly) else { return item.fields }
        return item.fields.filter { name, _ in column(named: name)?.isLocalOnly == false }
    }

    /// Whether the item has other values of synced fields; a missing one is null.
    func isEdited(_ item: Item, since fields: [String: ItemValue]) -> Bool {
        let syncsAll = !columns.contains(where: \.isLocalOnly)
        func isSynced(_ name: String) -> Bool { syncsAll || syncs(name) }
        var (isEdited, known) = (false, 0)
        item.content.forEach { name, value in
            guard !isEdited, isSynced(name) else { return }
            let former = fields[name]
            if former != nil { known += 1 }
            isEdited = value != former ?? .null
        }
        guard !isEdited, known < fields.count else { return isEdited }
        return fields.contains { name, value in
            !value.isNull && (!isSynced(name) || item.content[name] == nil)
        }
    }

    /// Returns the item without local-only columns, as the server may have it.
    func withoutLocalOnlyColumns(_ item: Item) -> Item {
        guard columns.contains(where: \.isLocalOnly) else { return item }
        var copy = item
        copy.fields = syncedFields(of: item)
        return copy
    }

    /// Whether two states of an item differ in local-only columns only, so that nothing is to be sent.
    func differOnlyLocally(_ item: Item, _ other: Item) -> Bool {
        columns.contains(where: \.isLocalOnly) && item.system == other.system && item != other
            && columns.allSatisfy { $0.isLocalOnly || item.content[$0.name] == other.content[$0.name] }
    }

    /// Returns the fields that were sent in columns that are still synced.
    func syncedFields(of sent: TableOperation.SentSnapshot) -> [String: ItemValue] {
        sent.fields.allSatisfy { syncs($0.key) } ? sent.fields : sent.fields.filter { syncs($0.key) }
    }

    /// Returns the operation with what it has sent of the columns that are still synced. The rows of a conflict have no others.
    func withSyncedFieldsOfAttempt(_ operation: TableOperation) -> TableOperation {
        var changed = operation
        if let sent = operation.sent { changed.sent?.fields = syncedFields(of: sent) }
        return changed
    }

    /// Whether every field that was sent is still a synced column of that type.
    func canRepeat(_ sent: TableOperation.SentSnapshot) -> Bool {
        sent.fields.allSatisfy { normalizedFromServer($0.value, in: $0.key) == $0.value }
    }
}

extension Item {
    /// Returns the server's row with the local values of local-only columns and of columns that the row lacks. A row that was
    /// deleted and inserted again has nothing of the former one.
    func keepingLocalColumns(of local: Item?, definition: SyncTableDefinition) -> Item {
        guard let local else { return self }
        var kept = recordingRemovedColumns(of: local, definition: definition)
        let isFormerRow = isInsertedAgain(since: local)
        for column in definition.columns
        where column.isLocalOnly || content[column.name] == nil && !isFormerRow {
            kept.content[column.name] = local.content[column.name]
        }
        return kept
    }

    /// Returns the item with the local values of the local-only columns that it lacks. Other fields that it lacks stay
    /// missing.
    func addingLocalOnlyColumns(of local: Item?, definition: SyncTableDefinition) -> Item {
        var item = recordingRemovedColumns(of: local, definition: definition)
        for column in definition.columns where column.isLocalOnly && content[column.name] == nil {
            item.content[column.name] = local?.content[column.name]
        }
        return item
    }
}

extension TableOperation {
    /// Returns the deleted item, without values of local-only columns that have another type now: the store has no record of
    /// their former type.
    func deletedItem(in definition: SyncTableDefinition) -> Item? {
        guard var item = deletedItem else { return nil }
        for column in definition.columns where column.isLocalOnly {
            let value = item.content[column.name]
            item.content[column.name] = value.flatMap { column.type.converting($0) }
        }
        return item
    }
}

extension TableQuery {
    /// Checks that filter and order use no local-only column: the server cannot evaluate them.
    func requireSyncedColumns(_ definition: SyncTableDefinition) throws(SyncError) {
        for column in definition.columns where column.isLocalOnly && uses(column.name) {
            throw SyncError(
                .filterNotSupported,
                "The server does not know the local-only column '\(column.name)'. Filter by it in a local query."
            )
        }
    }

    private func uses(_ column: String) -> Bool {
        (filter?.columns.contains(column) ?? false)
            || orderings.contains { $0.expression.columns.contains(column) }
    }
}
