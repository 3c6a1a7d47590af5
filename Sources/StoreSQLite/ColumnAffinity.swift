// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The type affinity that SQLite derives from a column's declared type.
enum ColumnAffinity {
    case integer, text, blob, real, numeric

    /// Applies the rules of "Determination Of Column Affinity", in their order.
    init(declaredType: String) {
        let type = declaredType.uppercased()
        func has(_ part: String) -> Bool { type.contains(part) }
        if has("INT") {
            self = .integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            self = .text
        } else if has("BLOB") || type.isEmpty {
            self = .blob
        } else if has("REAL") || has("FLOA") || has("DOUB") {
            self = .real
        } else {
            self = .numeric
        }
    }

    /// Returns whether the column returns values of the type exactly as they were stored.
    func holds(_ type: ColumnType) -> Bool {
        switch type {
        case .bool, .integer: self == .integer || self == .numeric || self == .blob
        case .double: self != .text
        case .text, .json: self == .text || self == .blob
        // The text of a date is not a number, so no affinity converts it.
        case .date: true
        case .data: self == .blob || self == .numeric
        }
    }
}

extension AppTable.Column {
    /// Returns whether the column stores values of the type and returns them exactly.
    func holds(_ columnType: ColumnType) -> Bool {
        guard isStrict else { return ColumnAffinity(declaredType: type).holds(columnType) }
        // A STRICT table refuses values of another type than the declared one.
        switch type.uppercased() {
        case "ANY": return true
        case "INT", "INTEGER": return columnType == .bool || columnType == .integer
        case "REAL": return columnType == .double
        case "TEXT": return columnType == .text || columnType == .json || columnType == .date
        case "BLOB": return columnType == .data
        default: return false
        }
    }
}
