// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The columns of an item's table that every table has. Names with `$` cannot be those of declared columns.
enum ItemColumns {
    /// Names and SQL types, in the order in which statements bind and return them.
    static let all = [
        (name: "id", type: "TEXT"), (name: "createdAt", type: "DATETIME TEXT"),
        (name: "updatedAt", type: "DATETIME TEXT"), (name: "version", type: "TEXT"),
        (name: "$supersededVersions", type: "JSON TEXT"), (name: "$marks", type: "TEXT"),
        (name: "$undeclared", type: "JSON TEXT"),
    ]

    /// Columns that tables of the first format do not have.
    static let addedLater: Set = ["$undeclared"]

    /// The positions of those columns in a row.
    enum Position {
        static let id: Int32 = 0
        static let createdAt: Int32 = 1
        static let updatedAt: Int32 = 2
        static let version: Int32 = 3
        static let supersededVersions: Int32 = 4
        static let marks: Int32 = 5
        static let undeclared: Int32 = 6
        static let firstField: Int32 = 7
    }
}

extension ColumnType {
    /// The declared type of the column. What counts for SQLite is the affinity that it reads from the words:
    /// with `TEXT` in it, text is never turned into a number, however much it looks like one.
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

/// What the columns of a row cannot say: which fields are null, where a missing field is `NULL` too, and which
/// doubles are `-0.0`, of which SQLite keeps `0.0`. Most rows have none of these, and `NULL` for marks.
///
/// The text is a list of column names, with a minus sign before those of negative zeros: `dueAt,-price`.
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

    /// The columns that are null, and those that hold a negative zero.
    func forEach(null: (Substring) -> Void, negativeZero: (Substring) -> Void) {
        for mark in text.split(separator: ",") {
            if mark.utf8.first == UInt8(ascii: "-") { negativeZero(mark.dropFirst()) } else { null(mark) }
        }
    }
}
