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
        let defaultValue: String?
        /// Whether SQLite computes the value.
        let isGenerated: Bool
        /// Whether the table is known to be STRICT.
        let isStrict: Bool
    }

    init(_ definition: SyncTableDefinition, columns: [Column], on connection: Connection) throws {
        let known = Set(ItemColumns.all.map(\.name) + definition.columns.map(\.name))
        let required = columns.filter { !$0.mayBeNull && !$0.isGenerated && $0.name != "id" }
        defaults = Dictionary(
            uniqueKeysWithValues: required.compactMap { column in
                known.contains(column.name) ? column.defaultValue.map { (column.name, $0) } : nil
            })
        let creation = try connection.creation(ofTable: definition.name)
        hasConflictClause = creation.map(CreateTableStatement.hasConflictClause) ?? false
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
                    defaultValue: row.schemaText(at: 4)?.defaultExpression, isGenerated: row.int(at: 6) >= 2,
                    isStrict: isStrict))
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
        guard let text = defaultName else { return self }
        return "'" + text.replacing("'", with: "''") + "'"
    }

    /// The text of a default that is a name, with or without quotes.
    private var defaultName: String? {
        for quote in ["\"", "`"] where utf8.count > 1 && hasPrefix(quote) && hasSuffix(quote) {
            let parts = dropFirst().dropLast().split(
                separator: quote + quote, omittingEmptySubsequences: false)
            return parts.contains { $0.contains(quote) } ? nil : parts.joined(separator: quote)
        }
        if hasPrefix("["), hasSuffix("]") { return String(dropFirst().dropLast()) }
        let literals = ["NULL", "TRUE", "FALSE", "CURRENT_TIME", "CURRENT_DATE", "CURRENT_TIMESTAMP"]
        let isName = utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
        return isName && utf8.allSatisfy(\.isInSQLWord) && !literals.contains(uppercased()) ? self : nil
    }
}
