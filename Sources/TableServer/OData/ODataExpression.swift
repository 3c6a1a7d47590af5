// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A parsed `$filter` or a part of it.
indirect enum ODataExpression: Hashable, Sendable {
    case literal(ItemValue)
    case column(ODataColumn)
    case negative(ODataExpression)
    case arithmetic(Arithmetic, ODataExpression, ODataExpression)
    case comparison(Comparison, ODataExpression, ODataExpression)
    case call(ODataFunction, [ODataExpression])
    case not(ODataExpression)
    case all([ODataExpression])
    case any([ODataExpression])

    enum Arithmetic: String, CaseIterable { case add, sub, mul, div, mod }

    enum Comparison: String, CaseIterable { case eq, ne, gt, ge, lt, le }

    /// Whether this contains a column for which the predicate is true.
    func usesColumn(where predicate: (ODataColumn) -> Bool) -> Bool {
        switch self {
        case .literal: false
        case .column(let column): predicate(column)
        case .negative(let operand), .not(let operand): operand.usesColumn(where: predicate)
        case .arithmetic(_, let left, let right), .comparison(_, let left, let right):
            left.usesColumn(where: predicate) || right.usesColumn(where: predicate)
        case .call(_, let operands), .all(let operands), .any(let operands):
            operands.contains { $0.usesColumn(where: predicate) }
        }
    }

    /// Whether this can be a condition. A column can, because it may contain Booleans.
    var canBeCondition: Bool {
        switch self {
        case .comparison, .not, .all, .any, .column: true
        case .literal(let value): value.boolValue != nil || value.isNull
        case .call(let function, _): function.isCondition
        case .negative, .arithmetic: false
        }
    }
}

/// A column in a query.
enum ODataColumn: Hashable, Sendable {
    case id, createdAt, updatedAt, version, deleted
    case field(String)

    /// Finds the column with this name, without regard to case.
    init(_ name: String, in columns: ColumnNames, _ dialect: TableServer.Dialect = .v2) {
        self = dialect.systemColumn(named: name) ?? .field(columns.spelling(of: name))
    }

    var isField: Bool { if case .field = self { true } else { false } }

    /// The column's name in rows.
    var name: String {
        switch self {
        case .id: "id"
        case .createdAt: "createdAt"
        case .updatedAt: "updatedAt"
        case .version: "version"
        case .deleted: "deleted"
        case .field(let name): name
        }
    }
}

/// A function in a filter.
enum ODataFunction: String, Sendable, CaseIterable {
    case startswith, endswith, substringof, contains
    case tolower, toupper, trim, length, indexof, concat
    case year, month, day, hour, minute, second
    case round, floor, ceiling

    var parameterCount: Int {
        switch self {
        case .startswith, .endswith, .substringof, .contains, .indexof, .concat: 2
        default: 1
        }
    }

    var isCondition: Bool {
        switch self {
        case .startswith, .endswith, .substringof, .contains: true
        default: false
        }
    }

    /// Whether the dialect's version of OData has the function.
    func exists(in dialect: TableServer.Dialect) -> Bool {
        switch self {
        case .substringof: dialect != .v3
        case .contains: dialect == .v3
        default: true
        }
    }
}
