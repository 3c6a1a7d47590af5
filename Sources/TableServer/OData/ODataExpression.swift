// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A parsed `$filter`, or a part of one.
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

    enum Arithmetic: String { case add, sub, mul, div, mod }

    enum Comparison: String { case eq, ne, gt, ge, lt, le }

    /// Whether this is true or false for a row; a column may hold a truth value, so it counts.
    var canBeCondition: Bool {
        switch self {
        case .comparison, .not, .all, .any, .column: true
        case .literal(let value): value.boolValue != nil || value.isNull
        case .call(let function, _): function.isCondition
        case .negative, .arithmetic: false
        }
    }
}

/// A column named in a query.
enum ODataColumn: Hashable, Sendable {
    case id, createdAt, updatedAt, version, deleted
    case field(String)

    /// The column of that name; case does not matter.
    init(_ name: String, in columns: ColumnNames) {
        switch name.asciiLowercased {
        case "id": self = .id
        case "createdat": self = .createdAt
        case "updatedat": self = .updatedAt
        case "version": self = .version
        case "deleted": self = .deleted
        default: self = .field(columns.spelling(of: name))
        }
    }

    /// Whether a name is that of a column every row has.
    static func isSystem(_ name: String) -> Bool {
        if case .field = ODataColumn(name, in: ColumnNames()) { false } else { true }
    }

    /// The name under which rows carry the column.
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

    /// The value in a row; null when the row has no such field.
    func value(in row: TableRow) -> ItemValue {
        switch self {
        case .id: .text(row.id)
        case .createdAt: .date(row.createdAt)
        case .updatedAt: .date(row.updatedAt)
        case .version: .text(row.version)
        case .deleted: .bool(row.deleted)
        case .field(let name): row.fields[name] ?? .null
        }
    }
}

/// A function of OData v3 that filters may call.
enum ODataFunction: String, Sendable {
    case startswith, endswith, substringof
    case tolower, toupper, trim, length, indexof, concat
    case year, month, day, hour, minute, second
    case round, floor, ceiling

    var parameterCount: Int {
        switch self {
        case .startswith, .endswith, .substringof, .indexof, .concat: 2
        default: 1
        }
    }

    var isCondition: Bool {
        switch self {
        case .startswith, .endswith, .substringof: true
        default: false
        }
    }
}
