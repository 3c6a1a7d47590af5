// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// Access to the rows without HTTP, so that a test can inspect them and act as another client.
extension TableServer {
    /// Returns all rows of a table in the order of insertion, including tombstones.
    ///
    /// - Throws: ``TableServerError`` when the table does not exist.
    public func rows(in table: String) throws -> [TableRow] {
        let rows = service.rowStore.read(table.asciiLowercased) { rows in
            var list: [TableRow] = []
            rows.scan(.insertion) { row in
                list.append(row)
                return true
            }
            return list
        }
        guard let rows else { throw Self.unknownTable(table) }
        return rows
    }

    /// Returns the row with this id, also a tombstone, or `nil`.
    ///
    /// - Throws: ``TableServerError`` when the table does not exist.
    public func row(_ id: String, in table: String) throws -> TableRow? {
        guard let row = service.rowStore.read(table.asciiLowercased, { rows in rows[id] }) else {
            throw Self.unknownTable(table)
        }
        return row
    }

    /// Inserts a row, or replaces the fields of the row with this id and undeletes it.
    ///
    /// - Parameter updatedAt: The `updatedAt` of the row instead of the current time. It may be in the past, as after a
    ///   transaction that is committed late.
    /// - Throws: ``TableServerError`` when the table does not exist or the row is invalid.
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

    /// Inserts or replaces rows in one transaction, with the same `updatedAt`.
    ///
    /// - Throws: ``TableServerError`` when the table does not exist or a row is invalid; then no row is stored.
    public func put(_ rows: [(id: String, fields: [String: ItemValue])], in table: String) async throws {
        let validRows = try rows.map { row in (row.id, try Self.validated(row.id, row.fields)) }
        let stamp = service.stamp
        let result: Void? = try await service.rowStore.write(table.asciiLowercased) { current in
            var sequence = current.lastSequence
            let changes = validRows.map { id, fields -> TableRows.Change in
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
        if result == nil { throw Self.unknownTable(table) }
    }

    /// Updates some fields of a row.
    ///
    /// - Throws: ``TableServerError`` when the table or the row does not exist, or the fields are invalid.
    @discardableResult
    public func update(
        _ id: String, _ fields: [String: ItemValue], in table: String, updatedAt: Timestamp? = nil
    ) async throws -> TableRow {
        guard try row(id, in: table) != nil else { throw Self.rowNotFound(id) }
        return try await write(id, fields, in: table, at: updatedAt) { row, fields, columns in
            row.merge(fields, columns: columns)
        }
    }

    /// Deletes a row as a client does: in a table with soft delete, a tombstone remains.
    ///
    /// - Parameter leavingTombstone: Whether a tombstone remains; by default as the table is configured.
    /// - Throws: ``TableServerError`` when the table does not exist.
    public func remove(
        _ id: String, in table: String, leavingTombstone: Bool? = nil, updatedAt: Timestamp? = nil
    ) async throws {
        let stamp = updatedAt ?? service.stamp
        let result: Void? = try await service.rowStore.write(table.asciiLowercased) { rows in
            guard let row = rows[id] else { return ((), []) }
            guard leavingTombstone ?? rows.table.softDelete else { return ((), [.remove(row.key)]) }
            return ((), [.put(row.changed(at: stamp) { $0.deleted = true })])
        }
        if result == nil { throw Self.unknownTable(table) }
    }

    private func write(
        _ id: String, _ fields: [String: ItemValue], in table: String, at updatedAt: Timestamp?,
        _ change: @escaping @Sendable (inout TableRow, [String: ItemValue], ColumnNames) -> Void
    ) async throws -> TableRow {
        let fields = try Self.validated(id, fields)
        let stamp = updatedAt ?? service.stamp
        let row = try await service.rowStore.write(table.asciiLowercased) { rows in
            let old = rows[id] ?? Self.newRow(id, stamp, rows.lastSequence + 1)
            let columns = rows.columns
            let row = old.changed(at: stamp) { change(&$0, fields, columns) }
            return (row, [.put(row)])
        }
        guard let row else { throw Self.unknownTable(table) }
        return row
    }

    /// Returns a new row without fields.
    private static func newRow(_ id: String, _ stamp: Timestamp, _ sequence: Int64) -> TableRow {
        TableRow(
            id: id, fields: [:], createdAt: stamp, updatedAt: stamp, revision: 0, deleted: false,
            sequence: sequence)
    }

    /// Validates the fields and returns them as the protocol transfers them: dates and binary data as text.
    private static func validated(
        _ id: String, _ fields: [String: ItemValue]
    ) throws -> [String: ItemValue] {
        if let problem = WriteBody.problem(inID: id) { throw TableServerError(.invalidRow, problem) }
        if let name = fields.keys.first(where: { !$0.isColumnName || ODataColumn.isSystem($0) }) {
            throw TableServerError(.invalidRow, "'\(name)' is not a valid name of a column.")
        }
        guard case .object(let fields) = try ItemValue(json: ItemValue.object(fields).json) else {
            return [:]
        }
        return fields
    }

    private static func unknownTable(_ table: String) -> TableServerError {
        TableServerError(.unknownTable, "The server has no table '\(table)'.")
    }

    private static func rowNotFound(_ id: String) -> TableServerError {
        TableServerError(.invalidRow, "The row '\(id)' does not exist.")
    }
}
