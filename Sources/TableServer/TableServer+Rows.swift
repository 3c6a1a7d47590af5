// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

public import SyncCore

/// Access to the rows without HTTP, so that a test can inspect them and act as another client.
///
/// In a per-user table, the parameter `user` names the owner of the rows, whom every call but ``TableServer/rows(in:of:)`` needs:
/// without one, they read and write only rows without an owner, which no user sees. In other tables it is left out.
extension TableServer {
    /// Returns all rows of a table in the order of insertion, including tombstones.
    ///
    /// - Parameter user: the owner of the rows; `nil` returns those of all users.
    /// - Throws: ``TableServerError`` when the table does not exist.
    public func rows(in table: String, of user: String? = nil) throws -> [TableRow] {
        try service.storage.readNow(try scope(table, user)) { rows in try rows.allRows() }
    }

    /// Returns the row with this id, also a tombstone, or `nil`.
    ///
    /// - Throws: ``TableServerError`` when the table does not exist.
    public func row(_ id: String, in table: String, of user: String = "") throws -> TableRow? {
        try service.storage.readNow(try scope(table, user)) { rows in try rows.row(id) }
    }

    /// Inserts a row, or replaces the fields of the row with this id and undeletes it.
    ///
    /// - Parameter updatedAt: The `updatedAt` of the row instead of the current time. It may be in the past, as after a
    ///   transaction that is committed late.
    /// - Throws: ``TableServerError`` when the table does not exist or the row is invalid.
    @discardableResult
    public func put(
        _ id: String, _ fields: [String: ItemValue], in table: String, of user: String = "",
        updatedAt: Timestamp? = nil
    ) async throws -> TableRow {
        try await write(id, fields, in: try scope(table, user), at: updatedAt) { old, fields, columns in
            old.replaceFields(with: fields, columns: columns)
        }
    }

    /// Inserts or replaces rows in one transaction, with the same `updatedAt`.
    ///
    /// - Throws: ``TableServerError`` when the table does not exist or a row is invalid; then no row is stored.
    public func put(
        _ rows: [(id: String, fields: [String: ItemValue])], in table: String, of user: String = ""
    ) async throws {
        let scope = try scope(table, user)
        let validRows = try rows.map { row in (row.id, try Self.validated(row.id, row.fields, scope.table)) }
        try await service.storage.write(scope) { rows in
            let stamp = try rows.stamp()
            for (id, fields) in validRows {
                let row = try rows.row(id) ?? Self.newRow(id, stamp, rows)
                let columns = try rows.columns()
                try rows.put(row.changed(at: stamp) { $0.replaceFields(with: fields, columns: columns) })
            }
        }
    }

    /// Updates some fields of a row.
    ///
    /// - Throws: ``TableServerError`` when the table or the row does not exist, or the fields are invalid.
    @discardableResult
    public func update(
        _ id: String, _ fields: [String: ItemValue], in table: String, of user: String = "",
        updatedAt: Timestamp? = nil
    ) async throws -> TableRow {
        try await write(id, fields, in: try scope(table, user), at: updatedAt, insertsRow: false) {
            row, fields, columns in
            row.merge(fields, columns: columns)
        }
    }

    /// Deletes a row as a client does: in a table with soft delete, a tombstone remains.
    ///
    /// - Parameter leavingTombstone: Whether a tombstone remains; by default as the table is configured.
    /// - Throws: ``TableServerError`` when the table does not exist.
    public func remove(
        _ id: String, in table: String, of user: String = "", leavingTombstone: Bool? = nil,
        updatedAt: Timestamp? = nil
    ) async throws {
        let scope = try scope(table, user)
        try await service.storage.write(scope) { rows in
            guard let row = try rows.row(id) else { return }
            guard leavingTombstone ?? scope.table.softDelete else { return try rows.remove(row) }
            let stamp = try updatedAt ?? rows.stamp()
            try rows.put(row.changed(at: stamp) { $0.deleted = true })
        }
    }

    private func write(
        _ id: String, _ fields: [String: ItemValue], in scope: RowScope, at updatedAt: Timestamp?,
        insertsRow: Bool = true,
        _ change: @escaping @Sendable (inout TableRow, [String: ItemValue], ColumnNames) -> Void
    ) async throws -> TableRow {
        let fields = try Self.validated(id, fields, scope.table)
        return try await service.storage.write(scope) { rows in
            let stored = try rows.row(id)
            guard stored != nil || insertsRow else { throw Self.rowNotFound(id) }
            let stamp = try updatedAt ?? rows.stamp()
            let old = try stored ?? Self.newRow(id, stamp, rows)
            let columns = try rows.columns()
            return try TableRow(rows.put(old.changed(at: stamp) { change(&$0, fields, columns) }))
        }
    }

    /// Returns a new row without fields, before its first change.
    private static func newRow(_ id: String, _ stamp: Timestamp, _ rows: any RowWriter) throws -> TableRow {
        var row = try TableRow(newIn: rows, id: id, at: stamp)
        row.revision -= 1
        return row
    }

    /// Validates the fields and returns them as the protocol transfers them: dates and binary data as text, and names
    /// in the spelling of the declared columns.
    private static func validated(
        _ id: String, _ fields: [String: ItemValue], _ table: Table
    ) throws -> [String: ItemValue] {
        if let problem = WriteBody.problem(inID: id) { throw TableServerError(.invalidRow, problem) }
        let declared = table.declaredColumns
        var columns = ColumnNames()
        var spelledFields: [String: ItemValue] = [:]
        for (name, value) in fields {
            guard name.isTableOrColumnName, !Dialect.isSystemName(name.utf8) else {
                throw TableServerError(.invalidRow, "'\(name)' is not a valid name of a column.")
            }
            guard columns.add(name) else {
                throw TableServerError(
                    .invalidRow, "'\(name)' is there twice; names that differ only in case are one column.")
            }
            if let declared, !declared.contains(name) {
                throw TableServerError(.invalidRow, table.problem(ofUndeclaredColumn: name))
            }
            guard value.isExpressibleInJSON(depth: ItemValue.depthInLists) else {
                throw TableServerError(
                    .invalidRow, "The value of '\(name)' is no JSON, or nested too deeply for a list of rows."
                )
            }
            spelledFields[declared?.spelling(of: name) ?? name] = value
        }
        guard case .object(let fields) = try ItemValue(json: ItemValue.object(spelledFields).json) else {
            return [:]
        }
        return fields
    }

    private func scope(_ name: String, _ user: String?) throws -> RowScope {
        guard let table = service.settings.table(named: name) else {
            throw TableServerError(.unknownTable, "The server has no table '\(name)'.")
        }
        return RowScope(table: table, owner: user)
    }

    private static func rowNotFound(_ id: String) -> TableServerError {
        TableServerError(.invalidRow, "The row '\(id)' does not exist.")
    }
}

extension TableRow {
    /// Replaces all fields, and undeletes the row.
    fileprivate mutating func replaceFields(with newFields: [String: ItemValue], columns: ColumnNames) {
        fields = [:]
        merge(newFields, columns: columns)
        deleted = false
    }
}
