// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension TableServer.Table {
    /// The declared columns by their spelling; `nil` if clients may write any column.
    var declaredColumns: ColumnNames? { columns.map { ColumnNames($0) } }

    /// - Throws: ``TableServerError`` that names the first column that no table can have.
    func validateColumns() throws(TableServerError) {
        var names = ColumnNames()
        for column in columns ?? [] {
            guard column.isTableOrColumnName else {
                throw TableServerError(
                    .configuration,
                    "The column name '\(column)' of the table '\(name)' is invalid: use letters, digits and '_'."
                )
            }
            guard !TableServer.Dialect.isSystemName(column.utf8) else {
                throw TableServerError(
                    .configuration,
                    "The table '\(name)' has the system property '\(column)' already: do not declare it.")
            }
            guard names.add(column) else {
                throw TableServerError(
                    .configuration,
                    "The table '\(name)' has the column '\(column)' twice; names that differ only in case are one column."
                )
            }
        }
        guard names.count <= RowWrite.maxColumns else {
            throw TableServerError(
                .configuration, "The table '\(name)' has more than \(RowWrite.maxColumns) columns.")
        }
    }

    /// Returns why a row cannot have a field of this column, which is not declared.
    func problem(ofUndeclaredColumn column: String) -> String {
        "The table '\(name)' has no column '\(column)': remove it from the row, or let the server declare it."
    }
}

extension TableServer {
    /// Checks that rows have the declared columns in the same spelling. Filters do not find fields with another one.
    static func validateColumns(
        of tables: [Table], in storage: any RowStorage
    ) async throws(TableServerError) {
        for table in tables {
            guard let declared = table.columns else { continue }
            let stored: ColumnNames
            do { stored = try await storage.read(RowScope(table: table)) { try $0.columns() } } catch {
                throw TableServerError(
                    .storage, "The columns of the table '\(table.name)' cannot be read: \(error)",
                    cause: error)
            }
            for column in declared where stored.spelling(of: column) != column {
                let spelling = stored.spelling(of: column)
                throw TableServerError(
                    .configuration,
                    "Rows of the table '\(table.name)' have '\(spelling)' for the column '\(column)': declare '\(spelling)'."
                )
            }
        }
    }
}
