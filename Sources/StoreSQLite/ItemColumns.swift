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
}

/// Field states that column values cannot represent: explicit nulls, because a missing field is `NULL` too, and
/// negative zeros, because SQLite stores `-0.0` as `0.0`. Rows without either store `NULL`.
///
/// The text is a comma-separated list of column names; a minus sign marks a negative zero: `dueAt,-price`.
struct FieldFlags {
    private(set) var text = ""

    init() {}

    init(_ text: String) {
        self.text = text
    }

    mutating func addNull(_ column: String) {
        if !text.isEmpty { text += "," }
        text += column
    }

    mutating func addNegativeZero(_ column: String) { addNull("-" + column) }

    /// Calls `null` for each explicit null and `negativeZero` for each negative zero.
    func forEach(null: (Substring) -> Void, negativeZero: (Substring) -> Void) {
        for flag in text.split(separator: ",") {
            if flag.utf8.first == UInt8(ascii: "-") { negativeZero(flag.dropFirst()) } else { null(flag) }
        }
    }
}
