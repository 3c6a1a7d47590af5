// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The filter and order of a list, ready to run.
struct ListQuery {
    private let filter: ODataExpression?
    private let ordering: [ODataOrdering]
    private let includesDeleted: Bool
    private let includesCount: Bool

    init(_ parameters: ListParameters, columns: ColumnNames) throws(Refusal) {
        do throws(ODataError) {
            filter =
                if let text = parameters.filter { try ODataParser.parse(text, columns: columns) } else { nil }
        } catch {
            throw .badRequest("The filter cannot be read: \(error).")
        }
        do throws(ODataError) {
            ordering =
                if let text = parameters.ordering {
                    try ODataOrdering.parse(text, columns: columns)
                } else { [] }
        } catch {
            throw .badRequest("The order cannot be read: \(error).")
        }
        includesDeleted = parameters.includesDeleted
        includesCount = parameters.includesCount
    }

    private func includes(_ row: TableRow) -> Bool {
        (includesDeleted || !row.deleted) && (filter?.matches(row) ?? true)
    }

    /// The rows of one page, and how many there are on all pages when that was asked for.
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
