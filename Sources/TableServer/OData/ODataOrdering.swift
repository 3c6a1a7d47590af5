// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// One sort key of an `$orderby`.
struct ODataOrdering: Hashable, Sendable {
    let column: ODataColumn
    let isDescending: Bool

    /// The maximum number of sort keys, fewer than those that databases accept.
    private static let maxCount = 100

    /// Parses `column [asc|desc], …`.
    static func parse(
        _ text: String, columns: ColumnNames, _ dialect: TableServer.Dialect = .v2
    ) throws(ODataError) -> [ODataOrdering] {
        var lexer = ODataLexer(text, dialect)
        var orderings: [ODataOrdering] = []
        while true {
            guard case .name(let name) = try lexer.next() else { throw lexer.error("expected a column name") }
            var token = try lexer.next()
            var isDescending = false
            if token == .name("asc") || token == .name("desc") {
                isDescending = token == .name("desc")
                token = try lexer.next()
            }
            orderings.append(
                ODataOrdering(column: ODataColumn(name, in: columns, dialect), isDescending: isDescending))
            guard orderings.count <= maxCount else {
                throw lexer.error("there are more than \(maxCount) columns")
            }
            if token == .end { return orderings }
            guard token == .comma else {
                throw lexer.error("expected ',' or the end, found \(token.description)")
            }
        }
    }
}

extension RowScope {
    /// Returns the order of a list whose request has none: empty for the order of insertion.
    ///
    /// The rows of one user have no index by insertion.
    func defaultOrdering(_ dialect: TableServer.Dialect) -> [ODataOrdering] {
        dialect == .v3 || table.isPerUser ? [ODataOrdering(column: .id, isDescending: false)] : []
    }
}
