// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The parsed filter and order of a list request.
struct ListQuery {
    private let filter: ODataExpression?
    private let ordering: [ODataOrdering]
    private let includesDeleted: Bool
    private let includesCount: Bool

    init(
        _ parameters: ListParameters, _ dialect: TableServer.Dialect, columns: ColumnNames
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
                } else { dialect.defaultOrdering }
        } catch {
            throw .badRequest("'$orderby' cannot be parsed: \(error).")
        }
        includesDeleted = parameters.includesDeleted
        includesCount = parameters.includesCount
    }

    private func includes(_ row: TableRow) -> Bool {
        (includesDeleted || !row.deleted) && (filter?.matches(row) ?? true)
    }

    /// Returns the rows of one page and, if the request asks for it, the number of rows on all pages.
    func page(of rows: borrowing TableRows, skip: Int, size: Int) -> (rows: [TableRow], count: Int?) {
        var page: [TableRow] = []
        var found = 0
        guard let order = ordering.indexed else {
            rows.scan(.insertion) { row in
                if includes(row) { page.append(row) }
                return true
            }
            let sorted = ordering.sort(page).dropFirst(skip).prefix(size)
            return (Array(sorted), includesCount ? page.count : nil)
        }
        rows.scan(order, from: filter?.scanStart ?? ScanStart()) { row in
            guard includes(row) else { return true }
            if found >= skip, page.count < size { page.append(row) }
            found += 1
            return includesCount || page.count < size
        }
        return (page, includesCount ? found : nil)
    }
}
