// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// Which rows of a table a list contains, and in which order.
package struct RowQuery: Sendable {
    let filter: ODataExpression?
    /// The sort keys; none for the order of insertion.
    let ordering: [ODataOrdering]
    let includesDeleted: Bool

    /// All rows in the order of insertion, including tombstones.
    static let all = RowQuery(filter: nil, ordering: [], includesDeleted: true)

    init(filter: ODataExpression?, ordering: [ODataOrdering], includesDeleted: Bool) {
        self.filter = filter
        self.ordering = ordering
        self.includesDeleted = includesDeleted
    }

    /// Whether the result depends on columns that not every row has.
    var usesFields: Bool { usesColumn(where: \.isField) }

    /// Whether the result depends on a column that no row of a table with these columns has.
    package func usesFields(notIn columns: ColumnNames) -> Bool {
        usesColumn { column in column.isField && !columns.contains(column.name) }
    }

    private func usesColumn(where predicate: (ODataColumn) -> Bool) -> Bool {
        filter?.usesColumn(where: predicate) ?? false || ordering.contains { predicate($0.column) }
    }

    init(
        _ parameters: ListParameters, _ dialect: TableServer.Dialect, columns: ColumnNames,
        defaultOrdering: [ODataOrdering]
    ) throws(RequestError) {
        do throws(ODataError) {
            filter =
                if let text = parameters.filter {
                    try ODataParser.parse(text, columns: columns, dialect)
                } else { nil }
        } catch {
            throw .badRequest("'$filter' cannot be parsed: \(error).")
        }
        do throws(ODataError) {
            ordering =
                if let text = parameters.ordering {
                    try ODataOrdering.parse(text, columns: columns, dialect)
                } else { defaultOrdering }
        } catch {
            throw .badRequest("'$orderby' cannot be parsed: \(error).")
        }
        includesDeleted = parameters.includesDeleted
    }
}
