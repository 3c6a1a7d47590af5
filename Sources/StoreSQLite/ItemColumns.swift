// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The columns that every item table has. Names with `$` cannot collide with declared columns.
enum ItemColumns {
    /// Names and SQL types, in the order of parameters and results.
    static let all = [
        (name: "id", type: "TEXT"), (name: "createdAt", type: "DATETIME TEXT"),
        (name: "updatedAt", type: "DATETIME TEXT"), (name: "version", type: "TEXT"),
        (name: "$supersededVersions", type: "JSON TEXT"), (name: "$marks", type: "TEXT"),
        (name: "$undeclared", type: "JSON TEXT"),
    ]

    /// Columns that do not exist in tables of format version 1.
    static let addedLater: Set = ["$undeclared"]

    /// The columns of what the server maintains for a row.
    static let serverProperties: Set = ["createdAt", "updatedAt", "version"]

    /// The positions of these columns in a row.
    enum Position {
        static let id: Int32 = 0
        static let createdAt: Int32 = 1
        static let updatedAt: Int32 = 2
        static let version: Int32 = 3
        static let supersededVersions: Int32 = 4
        static let fieldFlags: Int32 = 5
        static let undeclared: Int32 = 6
        static let firstField: Int32 = 7
    }
}

extension ColumnType {
    /// The declared SQL type of the column. SQLite derives the affinity from it: a type that contains `TEXT` prevents
    /// the conversion of number-like strings.
    var sqlType: String {
        switch self {
        case .bool: "BOOLEAN"
        case .integer: "INTEGER"
        case .double: "REAL"
        case .text: "TEXT"
        case .date: "DATETIME TEXT"
        case .data: "BLOB"
        case .json: "JSON TEXT"
        }
    }

    /// The type of a column that the store has created; `nil` for an SQL type that it does not use.
    init?(sqlType: String) {
        guard let type = Self.allCases.first(where: { $0.sqlType == sqlType }) else { return nil }
        self = type
    }

    /// Returns the type as an app declares it; an SQL type that this store does not use is returned unchanged.
    static func name(ofSQLType sqlType: String) -> String {
        ColumnType(sqlType: sqlType).map { ".\($0)" } ?? sqlType
    }
}
