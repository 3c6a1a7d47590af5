// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The constraints of a table that the app writes to as well.
struct AppTable {
    /// The default expressions of NOT NULL columns by column name, stored in place of a missing value.
    let defaults: [String: String]
    /// Whether a constraint has a conflict clause, such as `UNIQUE ON CONFLICT REPLACE`.
    let hasConflictClause: Bool

    /// A column as `PRAGMA table_xinfo` describes it.
    struct Column {
        let name: String
        let type: String
        let mayBeNull: Bool
        /// The default as an expression for other statements.
        let defaultExpression: String?
        /// Whether SQLite computes the value.
        let isGenerated: Bool
        /// Whether the table is known to be STRICT.
        let isStrict: Bool
    }

    init(_ definition: SyncTableDefinition, columns: [Column], on connection: Connection) throws {
        let names = ItemColumns.all.map(\.name) + definition.columns.map(\.name)
        let known = Set(names.map(UTF8Text.init))
        let required = columns.filter { !$0.mayBeNull && !$0.isGenerated && $0.name != "id" }
        defaults = Dictionary(
            uniqueKeysWithValues: required.compactMap { column in
                known.contains(UTF8Text(column.name))
                    ? column.defaultExpression.map { (column.name, $0) } : nil
            })
        let creation = try connection.creation(ofTable: definition.name)
        hasConflictClause = creation.map(CreateTableStatement.hasConflictClause) ?? false
    }

    /// Whether a table with these columns exists and was not created by a store.
    static func isOfApp(_ columns: [Column]) -> Bool {
        !columns.isEmpty
            && !ItemColumns.all.allSatisfy { column in
                ItemColumns.addedLater.contains(column.name)
                    || columns.contains { $0.name == column.name && $0.type == column.type }
            }
    }

    /// - Parameter mayBeStrict: whether the app may have declared the table as STRICT.
    static func columns(
        of table: String, on connection: Connection, mayBeStrict: Bool = false
    ) throws -> [Column] {
        let isStrict = try mayBeStrict && isStrictTable(table, on: connection)
        var columns: [Column] = []
        try connection.prepared("PRAGMA table_xinfo(\(table.quoted))").forEachRow { row in
            guard let name = row.schemaText(at: 1) else { return }
            columns.append(
                Column(
                    name: name, type: row.schemaText(at: 2) ?? "", mayBeNull: row.int(at: 3) == 0,
                    defaultExpression: row.schemaText(at: 4)?.defaultExpression,
                    isGenerated: row.int(at: 6) >= 2, isStrict: isStrict))
        }
        return columns
    }

    /// Only for tables of an app, because SQLite also prepares all views, which an untrusted file can make expensive. A
    /// version of SQLite without STRICT tables returns no rows.
    private static func isStrictTable(_ table: String, on connection: Connection) throws -> Bool {
        var isStrict = false
        try connection.prepared("PRAGMA table_list(\(table.quoted))").forEachRow { row in
            if row.schemaText(at: 0) == "main", row.int(at: 5) != 0 { isStrict = true }
        }
        return isStrict
    }
}

extension String {
    /// The default of a column as an expression for other statements, in which a name is a column: `DEFAULT open` and
    /// `DEFAULT "open"` are the text 'open'.
    fileprivate var defaultExpression: String {
        // The text can end with a comment.
        guard let name = defaultName else { return "(\(self)\n)" }
        return String(decoding: name, as: UTF8.self).quoted(with: UInt8(ascii: "'"))
    }

    /// The bytes of a default that is a name, with or without quotes.
    private var defaultName: [UInt8]? {
        guard let first = utf8.first else { return nil }
        switch first {
        case UInt8(ascii: "\""), UInt8(ascii: "`"):
            // A doubled quote stands for one.
            var (name, rest) = ([UInt8](), utf8.dropFirst())
            while let byte = rest.popFirst() {
                if byte == first, rest.popFirst() != first { return rest.isEmpty ? name : nil }
                name.append(byte)
            }
            return nil
        case UInt8(ascii: "["): return Array(utf8.dropFirst().dropLast())
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return nil
        default:
            let literals = ["NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"]
            return utf8.allSatisfy(\.isInSQLWord) && !literals.contains(uppercased()) ? Array(utf8) : nil
        }
    }
}
