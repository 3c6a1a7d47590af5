// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// What a commit has changed.
package struct ChangeSet: Sendable {
    /// The changed tables.
    package private(set) var tables: [String: TableChange] = [:]
    /// Whether operations or their errors have changed.
    package internal(set) var touchesOperations = false
    /// Whether the app may have queued operations, or made pending ones ready to send.
    package internal(set) var mayQueueOperations = false
    /// Whether any items may have changed: the commit was not recorded, or was made by another process.
    package private(set) var isUnknown = false

    /// Any change.
    package static let unknown: ChangeSet = {
        var changes = ChangeSet()
        (changes.isUnknown, changes.touchesOperations, changes.mayQueueOperations) = (true, true, true)
        return changes
    }()

    /// Any change of items, but none of operations.
    static let unknownItems: ChangeSet = {
        var changes = ChangeSet()
        changes.isUnknown = true
        return changes
    }()

    /// Operations that the app may have queued, or made ready to send.
    static let queuedOperations: ChangeSet = {
        var changes = ChangeSet()
        changes.mayQueueOperations = true
        return changes
    }()

    /// Changes of operations only.
    package static let operations: ChangeSet = {
        var changes = ChangeSet()
        changes.touchesOperations = true
        return changes
    }()

    /// Returns the change of any rows of a table.
    static func everything(in table: String) -> ChangeSet {
        var changes = ChangeSet()
        changes.add(.everything, to: table)
        return changes
    }

    /// Returns the change of a table; `nil` when it is unchanged.
    package func change(of table: String) -> TableChange? {
        isUnknown ? .everything : tables[table]
    }

    mutating func add(_ change: TableChange, to table: String) {
        tables[table, default: .rows([])].add(change)
    }

    /// Adds the changes of a later commit.
    mutating func merge(_ later: ChangeSet) {
        for (table, change) in later.tables { add(change, to: table) }
        touchesOperations = touchesOperations || later.touchesOperations
        mayQueueOperations = mayQueueOperations || later.mayQueueOperations
        isUnknown = isUnknown || later.isUnknown
    }
}

/// What a commit, or several, have changed in a table.
package enum TableChange: Sendable {
    /// These rows, in the order of the changes; a row may occur more than once.
    case rows([ChangedRow])
    /// Any rows.
    case everything

    /// The maximum number of recorded rows. They stay in memory until all observers have read them.
    static let maxRows = 1000

    mutating func add(_ change: TableChange) {
        switch (self, change) {
        case (.rows(var rows), .rows(let more)) where rows.count + more.count <= Self.maxRows:
            self = .rows([])  // so that the array is not copied
            rows.append(contentsOf: more)
            self = .rows(rows)
        default: self = .everything
        }
    }
}

/// A row that was changed: its new content, or `nil` when it was deleted.
package struct ChangedRow: Sendable {
    package let id: UTF8Text
    package let item: Item?
}
