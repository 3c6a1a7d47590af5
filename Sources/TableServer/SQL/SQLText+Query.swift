// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Compiles lists of rows. The statement names one of the tables that ``RowTable`` names.
extension SQLText {
    /// The columns of a list's rows, in this order.
    package static let rowColumns = "sequence, id, createdAt, updatedAt, revision, deleted, fields"

    /// Appends the statement for a window of a query.
    package mutating func append(
        select query: RowQuery, in scope: RowScope, owner: String?, offset: Int, limit: Int?
    ) {
        append("SELECT \(Self.rowColumns) ")
        append(query, in: scope, owner: owner)
        append(" ORDER BY ")
        if query.ordering.isEmpty {
            append("sequence")
        } else {
            append(ordering: query.ordering)
        }
        append(" LIMIT ")
        if limit == nil, database == .postgreSQL {
            append("ALL")
        } else {
            append(.integer(Int64(limit ?? -1)))
        }
        append(" OFFSET ")
        append(.integer(Int64(offset)))
    }

    /// Appends the statement for the number of rows that match a query.
    package mutating func append(count query: RowQuery, in scope: RowScope, owner: String?) {
        append("SELECT count(*) ")
        let unordered = RowQuery(
            filter: query.filter, ordering: [], includesDeleted: query.includesDeleted)
        append(unordered, in: scope, owner: owner, isCount: true)
    }

    /// Appends the statement for a text that differs after each change of the owner's rows. There is none without rows.
    package mutating func append(changeMarkIn scope: RowScope, owner: String) {
        let rows = RowTable.rows(scope.table.key)
        // Of rows that have changed at the same time, each change increases a revision or the number of rows.
        append("SELECT updatedAt || '-' || count(*) || '-' || sum(revision) FROM \(rows)")
        if database == .sqlite { append(" INDEXED BY \(RowTable.updateIndex(scope.table.key))") }
        append(" WHERE owner = ")
        append(.text(owner))
        append(" AND updatedAt = (SELECT max(updatedAt) FROM \(rows) WHERE owner = ")
        append(.text(owner))
        append(") GROUP BY updatedAt")
    }

    /// Appends `FROM` and `WHERE`.
    private mutating func append(
        _ query: RowQuery, in scope: RowScope, owner: String?, isCount: Bool = false
    ) {
        let bounds = query.filter?.rowBounds ?? RowBounds()
        append("FROM \(RowTable.rows(scope.table.key))")
        appendIndex(for: query, bounds, in: scope, isCount: isCount)
        append(" WHERE ")
        if let owner {
            append("owner = ")
            append(.text(owner))
        } else {
            append("TRUE")
        }
        append(bounds: bounds)
        if !query.includesDeleted { append(" AND NOT deleted") }
        if let filter = query.filter {
            append(" AND ")
            append(operand: filter)
        }
    }

    /// Without statistics, SQLite takes every index for selective, also one that is worse than reading the table. So the
    /// query names its index.
    private mutating func appendIndex(
        for query: RowQuery, _ bounds: RowBounds, in scope: RowScope, isCount: Bool
    ) {
        guard database == .sqlite else { return }
        let countsEveryRow = isCount && query.filter == nil && query.includesDeleted
        if scope.owner == nil {
            append(" NOT INDEXED")
        } else if bounds.idEquals == nil, bounds.isShortTime {
            append(" INDEXED BY \(RowTable.updateIndex(scope.table.key))")
        } else if bounds.idEquals != nil || query.ordering.first?.column == .id || countsEveryRow {
            append(" INDEXED BY \(RowTable.idIndex(scope.table.key))")
        } else if bounds.update != nil || query.ordering.first?.column == .updatedAt {
            append(" INDEXED BY \(RowTable.updateIndex(scope.table.key))")
        } else {
            append(" NOT INDEXED")
        }
    }
}

/// The names of the database's table and indexes for the rows of a table, in quotes. Keys consist of letters, digits and
/// `_`.
package enum RowTable {
    /// Stands for all tables where the key of one is stored.
    static let everyTable = ""

    package static func rows(_ tableKey: String) -> String { "\"rows_\(tableKey)\"" }
    package static func idIndex(_ tableKey: String) -> String { "\"rows_\(tableKey)_by_id\"" }
    package static func updateIndex(_ tableKey: String) -> String { "\"rows_\(tableKey)_by_update\"" }

    /// The ends of names of indexes and sequences, of which a table cannot have the same one.
    static let reservedSuffixes = ["_by_id", "_by_update", "_pkey", "_sequence_seq"]
}
