// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The rows of one table, with an index for each order in which clients page.
struct TableRows: Sendable {
    let table: TableServer.Table
    private(set) var columns = ColumnNames()
    private(set) var lastSequence: Int64 = 0
    private var rows: [RowKey: TableRow] = [:]
    private var bySequence = OrderedIndex<SequenceKey>()
    private var byID = OrderedIndex<RowKey>()
    private var byUpdate = OrderedIndex<UpdateKey>()

    private struct SequenceKey: Comparable, Sendable {
        let sequence: Int64
        let id: RowKey

        static func < (left: Self, right: Self) -> Bool { left.sequence < right.sequence }
        static func == (left: Self, right: Self) -> Bool { left.sequence == right.sequence }
    }

    init(table: TableServer.Table) {
        self.table = table
    }

    subscript(id: String) -> TableRow? { rows[RowKey(id)] }

    /// An insert or replacement of a row, or the removal of one.
    enum Change: Sendable {
        case put(TableRow)
        case remove(RowKey)
    }

    mutating func apply(_ change: Change) {
        switch change {
        case .put(let row):
            if let old = rows.updateValue(row, forKey: row.key) {
                byUpdate.remove(old.updateKey)
                if old.sequence != row.sequence {
                    bySequence.remove(SequenceKey(sequence: old.sequence, id: old.key))
                    bySequence.insert(SequenceKey(sequence: row.sequence, id: row.key))
                }
            } else {
                byID.insert(row.key)
                bySequence.insert(SequenceKey(sequence: row.sequence, id: row.key))
            }
            byUpdate.insert(row.updateKey)
            lastSequence = max(lastSequence, row.sequence)
            for name in row.fields.keys { columns.add(name) }
        case .remove(let key):
            guard let old = rows.removeValue(forKey: key) else { return }
            byUpdate.remove(old.updateKey)
            byID.remove(key)
            bySequence.remove(SequenceKey(sequence: old.sequence, id: key))
        }
    }
}

extension TableRows {
    /// An order that has an index.
    enum Order: Sendable {
        case insertion
        case id
        /// By `updatedAt`, then by id.
        case update
    }

    /// Calls the body with the rows in this order, from the start position, until it returns false.
    func scan(
        _ order: Order, from start: ScanStart = ScanStart(), _ body: (TableRow) throws -> Bool
    ) rethrows {
        switch order {
        case .insertion:
            try visit(bySequence.keys[...].lazy.map(\.id), body)
        case .id:
            let first = start.id.map { bound in byID.firstIndex { bound < $0 } } ?? 0
            try visit(byID.keys[first...], body)
        case .update:
            let first = start.update.map { bound in byUpdate.firstIndex { !bound.isAfter($0) } } ?? 0
            try visit(byUpdate.keys[first...].lazy.map(\.id), body)
        }
    }

    private func visit(_ keys: some Sequence<RowKey>, _ body: (TableRow) throws -> Bool) rethrows {
        for key in keys {
            guard let row = rows[key] else { continue }
            guard try body(row) else { return }
        }
    }
}
