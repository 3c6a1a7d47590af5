// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A table, a view or an index in the schema of a database.
struct SchemaObject {
    let name: String
    let kind: Kind
    /// The statement that has created it; `nil` for an index that SQLite has created.
    let sql: String?

    enum Kind: String {
        case table, view, index
        case virtualTable = "virtual table"
    }

    /// Kind and name as SQLite reads them: up to a null byte, and also from blobs. It ignores their case. Another program can
    /// store an object that SQLite finds and a comparison of the stored values does not.
    static let sqlKind = #"lower(printf('%s', "type"))"#
    static let sqlName = #"printf('%s', "name")"#

    /// Selects kind, name and statement of all objects except triggers.
    ///
    /// The statement of every ordinary table begins with these words, because SQLite writes them itself.
    private static let selectAll = """
        SELECT CASE WHEN \(sqlKind)='table' AND substr("sql", 1, 12) COLLATE NOCASE IS NOT 'CREATE TABLE'
        THEN 'virtual table' ELSE \(sqlKind) END, \(sqlName), "sql"
        FROM sqlite_master WHERE \(sqlKind)<>'trigger'
        """

    /// Returns the SQL that selects kind, name and statement of the object with that name.
    static func select(_ name: String) -> String {
        "\(selectAll) AND \(sqlName)=\(name.quoted(with: UInt8(ascii: "'"))) COLLATE NOCASE"
    }

    private init?(_ row: SQLRow) {
        guard let kind = row.schemaText(at: 0).flatMap(Kind.init(rawValue:)),
            let name = row.schemaText(at: 1)
        else { return nil }
        (self.name, self.kind, sql) = (name, kind, row.schemaText(at: 2))
    }

    /// Returns tables, views and indexes by their names.
    static func all(on connection: Connection) throws -> [SQLName: SchemaObject] {
        var objects: [SQLName: SchemaObject] = [:]
        try connection.prepared(selectAll).forEachRow { row in
            guard let object = SchemaObject(row) else { return }
            objects[SQLName(object.name)] = object
        }
        return objects
    }

    /// Returns whether a table of the store exists.
    ///
    /// SQLite reads views and virtual tables like tables, but computes their rows, and a file of another program can have
    /// one with endless rows.
    ///
    /// - Throws: ``StoreError/Code/corrupt`` for the name of a view, of a virtual table, or of an object of an unknown kind.
    static func hasTable(_ name: String, on connection: Connection) throws -> Bool {
        var exists = false
        try connection.prepared(select(name)).forEachRow { row in
            guard let object = SchemaObject(row) else {
                throw StoreError(
                    .corrupt, "The store is damaged: '\(name)' is of an unknown kind, not a table.")
            }
            guard object.kind != .index else { return }
            guard object.kind == .table else {
                throw StoreError(
                    .corrupt,
                    "The store is damaged: '\(object.name)' is a \(object.kind.rawValue), not a table.")
            }
            exists = true
        }
        return exists
    }
}
