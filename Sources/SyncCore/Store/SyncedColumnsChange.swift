// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Brings what a store keeps into line with a table's definition whose synced columns are not those of the last opening.
///
/// The value of a column that is synced no more becomes undeclared: see ``SystemProperties/undeclared``. The value of
/// one that is synced now, and waited there, becomes a field. That holds for the table's items and for what operations
/// and errors remember of them, so that no later step meets a field that the definition does not have.
///
/// A store runs it in its opening transaction, in a transaction whose catalog has ``union`` for the table.
public struct SyncedColumnsChange: Sendable {
    /// The declared columns, then those that are declared no more, by which their values are read and kept.
    public let union: SyncTableDefinition
    private let definition: SyncTableDefinition
    private let lost: [String]
    private let gained: [SyncColumn]

    /// - Parameters:
    ///   - definition: the table as it is declared now.
    ///   - former: the columns that were synced when the store was last open; `nil` when that is not known.
    public init(to definition: SyncTableDefinition, from former: [SyncColumn]?) {
        self.definition = definition
        let former = former ?? definition.columns.filter { !$0.isLocalOnly }
        let undeclared = former.filter { definition.column(named: $0.name) == nil }
        union = SyncTableDefinition(definition.name, columns: definition.columns + undeclared)
        lost = former.map(\.name).filter { !definition.syncs($0) }
        gained = definition.columns.filter { column in
            !column.isLocalOnly && !former.contains { $0.name == column.name }
        }
    }

    /// Changes the items, operations and errors of the table.
    ///
    /// - Throws: what the transaction throws.
    public func run(in transaction: any StoreTransaction) throws {
        if !lost.isEmpty || !gained.isEmpty { try changeItems(in: transaction) }
        for operation in try transaction.operations(after: 0, in: definition.name, limit: .max) {
            let changed = changed(operation)
            if changed != operation { try transaction.put(changed) }
        }
        for error in try transaction.operationErrors(in: definition.name) {
            let changed = changed(error)
            if changed != error { try transaction.put(changed) }
        }
    }

    private func changeItems(in transaction: any StoreTransaction) throws {
        var query = TableQuery(definition.name).limit(500)
        while let last = try changePage(query, in: transaction) {
            query.filter = .comparison(.greater, .column("id"), .constant(.text(last)))
        }
    }

    /// - Returns: the last id of the page, or `nil` when there is none.
    private func changePage(_ page: TableQuery, in transaction: any StoreTransaction) throws -> String? {
        let items = try transaction.items(matching: page).items
        try transaction.upsert(
            items.compactMap { item in
                let changed = moved(item)
                return changed == item ? nil : changed
            }, in: definition.name)
        return items.last?.id
    }

    private func changed(_ operation: TableOperation) -> TableOperation {
        var changed = operation
        changed.base = operation.base.map(serverRow)
        changed.serverItem = operation.serverItem.map(serverRow)
        changed.deletedItem = operation.deletedItem.map(localItem)
        if let sent = operation.sent {
            changed.sent?.fields = sent.fields.filter { definition.syncs($0.key) }
            // Nothing is left that an answer could be compared with.
            if sent.kind == .update, changed.sent?.fields.isEmpty == true, !sent.fields.isEmpty {
                changed.sent = nil
                if changed.state == .attempted { changed.state = .pending }
            }
        }
        return changed
    }

    private func changed(_ error: TableOperationError) -> TableOperationError {
        var changed = error
        changed.item = error.item.map(localItem)
        changed.serverItem = error.serverItem.map(serverRow)
        return changed
    }

    /// A remembered row of the server: all that it has besides synced columns is undeclared.
    private func serverRow(_ row: Item) -> Item {
        var changed = moved(row)
        for (name, value) in changed.fields where !definition.syncs(name) {
            changed.fields[name] = nil
            changed.system.undeclared[name] = changed.system.undeclared[name] ?? value
        }
        return changed
    }

    /// A remembered item of the device: it has declared columns only.
    private func localItem(_ item: Item) -> Item {
        var changed = moved(item)
        changed.fields = changed.fields.filter { definition.column(named: $0.key) != nil }
        return changed
    }

    /// The item with the values of lost columns undeclared too, and those of gained ones no longer.
    private func moved(_ item: Item) -> Item {
        var moved = item
        for name in lost where moved.system.undeclared[name] == nil {
            if let value = item.fields[name] { moved.system.undeclared[name] = value }
        }
        for column in gained {
            guard let value = moved.system.undeclared[column.name],
                let field = try? definition.normalizedFromServer([column.name: value])[column.name]
            else { continue }
            moved.fields[column.name] = field
            moved.system.undeclared[column.name] = nil
        }
        return moved
    }
}
