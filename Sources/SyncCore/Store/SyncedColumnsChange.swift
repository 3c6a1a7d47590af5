// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Migrates a table whose synced columns differ from those of the last opening.
///
/// The value of a column that is no longer synced moves to ``SystemProperties/undeclared``. The undeclared value of a
/// column that is synced now becomes a field. This applies to the table's items and to the rows in its operations and
/// errors, so that none of them has a field that the definition does not have. The table's delta tokens are removed: the
/// value of a column that is synced again may be an old one.
///
/// If the app has removed values from its own table, see ``LostValues``, those that an operation still has are restored.
/// Otherwise the push would take the loss for an edit, and remove the values from the server.
///
/// A store runs it in its opening transaction, whose catalog has ``union`` for the table.
@_spi(StoreAuthor)
public struct SyncedColumnsChange: Sendable {
    /// The declared columns, followed by formerly declared columns, so that their values can be read.
    public let union: SyncTableDefinition
    private let definition: SyncTableDefinition
    private let removed: [String]
    private let added: [SyncColumn]
    /// The columns with another type than before.
    private let retyped: [SyncColumn]
    private let lost: LostValues

    /// - Parameters:
    ///   - definition: the table as it is declared now.
    ///   - former: the synced columns of the last opening; `nil` if they are unknown.
    ///   - lost: what the app has removed from the table since. The rows in operations and errors have it in any case.
    public init(
        to definition: SyncTableDefinition, from former: [SyncColumn]?, lost: LostValues = LostValues()
    ) {
        self.definition = definition
        self.lost = lost
        let former = former ?? definition.columns.filter { !$0.isLocalOnly }
        let undeclared = former.filter {
            definition.column(named: $0.name) == nil && !lost.columns.contains($0.name)
        }
        union = SyncTableDefinition(definition.name, columns: definition.columns + undeclared)
        removed = former.map(\.name).filter { !definition.syncs($0) }
        added = definition.columns.filter { column in
            !column.isLocalOnly && !former.contains { $0.name == column.name }
        }
        retyped = definition.columns.filter { column in
            !column.isLocalOnly && former.contains { $0.name == column.name && $0.type != column.type }
        }
    }

    /// Migrates the items, operations and errors of the table.
    ///
    /// - Parameters:
    ///   - ids: the ids of the items if the app writes to the table as well. Items that cannot be read are not changed, nor are
    ///     those that the table's constraints refuse.
    ///   - report: receives the id of each refused item.
    /// - Throws: the errors of the transaction.
    public func run(
        in transaction: any StoreTransaction, readableAmong ids: [String]? = nil,
        onRefusedItem report: (_ id: String, StoreError) -> Void = { _, _ in }
    ) throws {
        func item(_ id: String) throws -> Item? {
            do { return try transaction.item(id: id, in: definition.name) } catch let error as StoreError
                where ids != nil && error.code == .corrupt
            { return nil }
        }
        let operations = try transaction.operations(after: 0, in: definition.name, limit: .max)
        let known = KnownValues(
            operations, of: lost, added: added,
            unknown: (added + retyped).map(\.name) + removed)
        let hasUnknownValues = !added.isEmpty || !retyped.isEmpty || !lost.isEmpty
        if !removed.isEmpty || hasUnknownValues {
            if let ids {
                for id in ids {
                    do {
                        try change([item(id)].compactMap(\.self), known, isTableOfApp: true, in: transaction)
                    } catch let error as StoreError where error.concernsItem { report(id, error) }
                }
            } else {
                try changeItems(known, in: transaction)
            }
            // The rows of a table that was never synced are the app's own, and must not seem to be of a former user.
            if try PurgeStamp.isKnown(definition.name, in: transaction) {
                try transaction.recordPurge(of: definition.name)
            }
        }
        for operation in operations {
            var changed = migrated(operation)
            if hasUnknownValues, let item = try item(operation.itemID) {
                changed.base = changed.base.map { addingUnknownValues(to: $0, from: item) }
                changed.removeLostValues(lost, missingIn: item, known: known, definition)
            }
            if changed != operation { try transaction.put(changed) }
        }
        for error in try transaction.operationErrors(in: definition.name) {
            let changed = migrated(error)
            if changed != error { try transaction.put(changed) }
        }
    }

    private func changeItems(_ known: KnownValues, in transaction: any StoreTransaction) throws {
        var query = TableQuery(definition.name).limit(500)
        while let last = try changePage(query, known, in: transaction) {
            query.filter = .comparison(.greater, .column("id"), .constant(.text(last)))
        }
    }

    /// - Returns: the last id of the page, or `nil` if the page is empty.
    private func changePage(
        _ page: TableQuery, _ known: KnownValues, in transaction: any StoreTransaction
    ) throws -> String? {
        let items = try transaction.items(matching: page).items
        try change(items, known, in: transaction)
        return items.last?.id
    }

    private func change(
        _ items: [Item], _ known: KnownValues, isTableOfApp: Bool = false,
        in transaction: any StoreTransaction
    ) throws {
        try transaction.upsert(
            items.compactMap { item in
                // The device has no row of an item that is to be inserted: its local-only value is the only one.
                let isInserted = known.isInserted(item) && item.system.isUnknown
                let moved = moved(item, isTableOfApp: isTableOfApp, keepsLocalOnly: isInserted)
                var changed = known.restored(moved, definition)
                if !known.isInserted(item), !isTableOfApp || !item.system.isUnknown {
                    // Otherwise values that it gets meanwhile would be sent when the columns are synced again.
                    let localOnly = removed.filter { definition.column(named: $0) != nil }
                    changed = recordingMissingValues(of: changed, in: localOnly)
                }
                return changed == item ? nil : changed
            }, in: definition.name)
    }

    /// Returns the operation with rows that have fields of the declared columns only.
    public func migrated(_ operation: TableOperation) -> TableOperation {
        var changed = operation
        changed.base = operation.base.map { recordingMissingValues(of: serverRow($0), in: removed) }
        changed.serverItem = operation.serverItem.map(serverRow)
        changed.deletedItem = operation.deletedItem.map(localItem)
        // Fields that are no longer synced stay, to be compared with the server's row.
        if let sent = operation.sent { changed.sent?.fields.merge(retyping(sent.fields)) { $1 } }
        return changed
    }

    /// Records as null the values of removed columns that the row did not have. Without such a record, the value of a column
    /// that is synced again is unknown.
    private func recordingMissingValues(of migrated: Item, in columns: [String]) -> Item {
        var changed = migrated
        for name in columns where changed.system.undeclared[name] == nil {
            changed.system.undeclared[name] = .null
        }
        return changed
    }

    /// Adds the item's value of a column that is synced again and whose value in the row is unknown, and the row's value of a
    /// column that has another type, so that they do not count as edits.
    private func addingUnknownValues(to base: Item, from item: Item) -> Item {
        var changed = base
        for column in added where changed.content[column.name] == nil {
            changed.content[column.name] = item.content[column.name]
        }
        for column in retyped where changed.content[column.name] == nil {
            let former = base.system.undeclared[column.name]
            changed.content[column.name] = former?.retyped(to: column.type, asIn: item.content[column.name])
        }
        return changed
    }

    /// Returns the error with rows that have fields of the declared columns only.
    public func migrated(_ error: TableOperationError) -> TableOperationError {
        var changed = error
        changed.item = error.item.map(localItem)
        changed.serverItem = error.serverItem.map(serverRow)
        return changed
    }

    /// Migrates a row of the server: all fields that are not synced columns become undeclared.
    private func serverRow(_ row: Item) -> Item {
        var changed = moved(row)
        let fields = retyping(changed.fields)
        for (name, value) in changed.fields where !definition.syncs(name) || fields[name] == nil {
            changed.content[name] = nil
            changed.system.undeclared[name] = changed.system.undeclared[name] ?? value
        }
        changed.fields = fields.filter { changed.content[$0.key] != nil }
        return changed
    }

    /// Migrates a local item: it keeps declared columns only.
    private func localItem(_ item: Item) -> Item {
        var changed = moved(item)
        changed.fields = retyping(changed.fields).filter { definition.column(named: $0.key) != nil }
        return changed
    }

    /// Moves the values of removed columns to the undeclared values, and those of added columns to the fields.
    ///
    /// - Parameters:
    ///   - isTableOfApp: whether an added column keeps its value if the undeclared one does not fit it. In other tables, the value
    ///     is one that the server's row had before the column was removed.
    ///   - keepsLocalOnly: whether columns that are local-only now keep their values in the item.
    private func moved(_ item: Item, isTableOfApp: Bool = false, keepsLocalOnly: Bool = false) -> Item {
        var moved = item
        for name in removed
        where moved.system.undeclared[name] == nil
            && !(keepsLocalOnly && definition.column(named: name) != nil)
        {
            if let value = item.content[name] { moved.system.undeclared[name] = value }
        }
        for column in added {
            guard let index = moved.system.undeclared.keys.index(ofColumn: column.name) else { continue }
            let value = moved.system.undeclared[index].value
            if let field = definition.normalizedFromServer(value, in: column.name) {
                moved.content[column.name] = field
                moved.system.undeclared.remove(at: index)
            } else if !isTableOfApp {
                moved.content[column.name] = nil
            }
        }
        let lost = moved.system.lostValues
        for column in added where lost[column.name] != nil {
            moved.system.lostValues[column.name] = moved.content[column.name] ?? .null
        }
        return moved
    }

    /// Returns the fields with values of the present types, without those that do not fit.
    private func retyping(_ fields: [String: ItemValue]) -> [String: ItemValue] {
        var retyped = fields
        for column in self.retyped {
            retyped[column.name] = fields[column.name].flatMap {
                definition.normalizedFromServer($0, in: column.name)
            }
        }
        return retyped
    }
}
