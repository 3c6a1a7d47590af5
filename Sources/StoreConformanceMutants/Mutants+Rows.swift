// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreConformance
import SyncCore

extension StoreMutant {
    /// Errors in reading columns.
    @MutantList static var rows: [StoreMutant] {
        StoreMutant(
            .query, "rows-of-table", "Columns are read of all rows.", killedBy: "rows.columns", "query.equal",
            message: "rows of"
        ) {
            $0.changingRows { snapshot, query, columns, _ in
                try snapshot.rows(matching: TableQuery(query.table), columns: columns).rows
            }
        }
        StoreMutant(
            .query, "rows-in-order-of-table", "Values are in the order of the table's columns.",
            killedBy: "rows.columns", message: "rows of"
        ) {
            $0.changingRows { snapshot, query, columns, _ in
                let declared = Fixture.tables.first { $0.name == query.table }?.columns.map(\.name) ?? []
                return try snapshot.rows(
                    matching: query,
                    columns: columns.sorted {
                        declared.firstIndex(of: $0) ?? 0 < declared.firstIndex(of: $1) ?? 0
                    }
                ).rows
            }
        }
        StoreMutant(
            .query, "rows-keep-values", "A missing field has the value of the row before.",
            killedBy: "rows.columns", message: "rows of"
        ) {
            $0.changingRows { _, _, _, right in
                var rows = right
                for index in rows.indices.dropFirst() {
                    for column in rows[index].values.indices where rows[index].values[column].isNull {
                        rows[index].values[column] = rows[index - 1].values[column]
                    }
                }
                return rows
            }
        }
        StoreMutant(
            .query, "rows-without-system", "Rows have no system properties.", killedBy: "rows.columns",
            message: "rows of"
        ) {
            $0.changingRows { _, _, _, right in
                right.map { RowValues(id: $0.id, values: $0.values, system: SystemProperties()) }
            }
        }
        StoreMutant(
            .query, "rows-selected", "Columns that the query does not select are null.",
            killedBy: "rows.selection", message: "the rows"
        ) {
            $0.changingRows { _, query, columns, right in
                right.map { row in
                    var row = row
                    for (position, name) in columns.enumerated()
                    where !query.selection.isEmpty && !query.selection.contains(name) {
                        row.values[position] = .null
                    }
                    return row
                }
            }
        }
        StoreMutant(
            .query, "rows-without-total", "Rows are not counted.", killedBy: "rows.columns",
            message: "total count of the rows"
        ) {
            $0.forEachRow = { [hits = $0.hits] snapshot, query, columns, body in
                if try snapshot.forEachRow(matching: query, columns: columns, body) != nil { hits.hit() }
                return nil
            }
        }
        StoreMutant(
            .query, "rows-hide-error", "An error of the body ends the reading, and is not thrown.",
            killedBy: "rows.error", message: "reading columns by"
        ) {
            $0.forEachRow = { [hits = $0.hits] snapshot, query, columns, body in
                do {
                    return try snapshot.forEachRow(matching: query, columns: columns, body)
                } catch is AppError {
                    hits.hit()
                    return nil
                }
            }
        }
    }
}

extension StoreFlaw {
    /// Changes the rows of which columns are read.
    fileprivate mutating func changingRows(
        _ change:
            @escaping @Sendable (any StoreSnapshot, TableQuery, _ columns: [String], _ right: [RowValues])
            throws -> [RowValues]
    ) {
        forEachRow = { [hits] snapshot, query, columns, body in
            let right = try snapshot.rows(matching: query, columns: columns)
            let wrong = try change(snapshot, query, columns, right.rows)
            if wrong != right.rows { hits.hit() }
            try wrong.forEach(body)
            return right.totalCount
        }
    }
}
