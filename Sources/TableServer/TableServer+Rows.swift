// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// Rows without HTTP, so that a test can look at them and play another client.
extension TableServer {
    /// All rows of a table in the order of insertion, tombstones included.
    ///
    /// - Throws: ``TableServerError`` when there is no such table.
    public func rows(in table: String) throws -> [TableRow] {
        let rows = service.book.read(table.asciiLowercased) { rows in
            var list: [TableRow] = []
            rows.scan(.insertion) { row in
                list.append(row)
                return true
            }
            return list
        }
        guard let rows else { throw Self.unknown(table) }
        return rows
    }

    /// The row of that id, a tombstone too, or `nil`.
    ///
    /// - Throws: ``TableServerError`` when there is no such table.
    public func row(_ id: String, in table: String) throws -> TableRow? {
        guard let row = service.book.read(table.asciiLowercased, { rows in rows[id] }) else {
            throw Self.unknown(table)
        }
        return row
    }

    /// Inserts a row, or replaces the fields of the one that has the id; a tombstone comes back to life.
    ///
    /// - Parameter updatedAt: When the change counts as made, if not now; it may lie in the past, as that of a
    ///   transaction that was committed late.
    /// - Throws: ``TableServerError`` when there is no such table or the row cannot be kept.
    @discardableResult
    public func put(
        _ id: String, _ fields: [String: ItemValue], in table: String, updatedAt: Timestamp? = nil
    ) async throws -> TableRow {
        try await write(id, fields, in: table, at: updatedAt) { old, fields, columns in
            old.fields = [:]
            old.merge(fields, columns: columns)
            old.deleted = false
        }
    }

    /// Inserts many rows, or replaces those that have the ids, in one transaction with one `updatedAt`.
    ///
    /// - Throws: ``TableServerError`` when there is no such table or a row cannot be kept; then none is.
    public func put(_ rows: [(id: String, fields: [String: ItemValue])], in table: String) async throws {
        let checked = try rows.map { row in (row.id, try Self.checked(row.id, row.fields)) }
        let stamp = service.stamp
        let result: Void? = try await service.book.write(table.asciiLowercased) { current in
            var sequence = current.lastSequence
            let changes = checked.map { id, fields -> TableRows.Change in
                sequence += 1
                let row = current[id] ?? Self.newRow(id, stamp, sequence)
                return .put(
                    row.changed(at: stamp) { row in
                        row.fields = fields
                        row.deleted = false
                    })
            }
            return ((), changes)
        }
        if result == nil { throw Self.unknown(table) }
    }

    /// Changes fields of a row, and leaves the others as they are.
    ///
    /// - Throws: ``TableServerError`` when there is no such table or row, or the fields cannot be kept.
    @discardableResult
    public func update(
        _ id: String, _ fields: [String: ItemValue], in table: String, updatedAt: Timestamp? = nil
    ) async throws -> TableRow {
        guard try row(id, in: table) != nil else { throw Self.missing(id) }
        return try await write(id, fields, in: table, at: updatedAt) { row, fields, columns in
            row.merge(fields, columns: columns)
        }
    }

    /// Deletes a row as a client would: a tombstone stays where the table deletes softly.
    ///
    /// - Parameter leavingTombstone: Whether a tombstone stays, if not as the table has it.
    /// - Throws: ``TableServerError`` when there is no such table.
    public func remove(
        _ id: String, in table: String, leavingTombstone: Bool? = nil, updatedAt: Timestamp? = nil
    ) async throws {
        let stamp = updatedAt ?? service.stamp
        let result: Void? = try await service.book.write(table.asciiLowercased) { rows in
            guard let row = rows[id] else { return ((), []) }
            guard leavingTombstone ?? rows.table.softDelete else { return ((), [.remove(row.key)]) }
            return ((), [.put(row.changed(at: stamp) { $0.deleted = true })])
        }
        if result == nil { throw Self.unknown(table) }
    }

    private func write(
        _ id: String, _ fields: [String: ItemValue], in table: String, at updatedAt: Timestamp?,
        _ change: @escaping @Sendable (inout TableRow, [String: ItemValue], ColumnNames) -> Void
    ) async throws -> TableRow {
        let fields = try Self.checked(id, fields)
        let stamp = updatedAt ?? service.stamp
        let row = try await service.book.write(table.asciiLowercased) { rows in
            let old = rows[id] ?? Self.newRow(id, stamp, rows.lastSequence + 1)
            let columns = rows.columns
            let row = old.changed(at: stamp) { change(&$0, fields, columns) }
            return (row, [.put(row)])
        }
        guard let row else { throw Self.unknown(table) }
        return row
    }

    /// A row before its first change.
    private static func newRow(_ id: String, _ stamp: Timestamp, _ sequence: Int64) -> TableRow {
        TableRow(
            id: id, fields: [:], createdAt: stamp, updatedAt: stamp, revision: 0, deleted: false,
            sequence: sequence)
    }

    /// The fields as they would arrive over the wire: dates and binary data as text.
    private static func checked(
        _ id: String, _ fields: [String: ItemValue]
    ) throws -> [String: ItemValue] {
        if let problem = WriteBody.problem(inID: id) { throw TableServerError(.invalidRow, problem) }
        if let name = fields.keys.first(where: { !$0.isColumnName || ODataColumn.isSystem($0) }) {
            throw TableServerError(.invalidRow, "'\(name)' cannot name a column.")
        }
        guard case .object(let fields) = try ItemValue(json: ItemValue.object(fields).json) else {
            return [:]
        }
        return fields
    }

    private static func unknown(_ table: String) -> TableServerError {
        TableServerError(.unknownTable, "The server has no table '\(table)'.")
    }

    private static func missing(_ id: String) -> TableServerError {
        TableServerError(.invalidRow, "There is no row '\(id)'.")
    }
}
