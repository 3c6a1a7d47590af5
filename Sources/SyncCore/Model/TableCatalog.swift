// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The validated table definitions of one store.
///
/// A store makes its catalog when it opens, so that invalid names are refused before any table is created.
public struct TableCatalog: Sendable {
    /// The definitions, in the order of the initializer.
    public let tables: [SyncTableDefinition]

    /// Validates the definitions.
    ///
    /// Names match `[A-Za-z_][A-Za-z0-9_]{0,127}`. Names of tables do not begin with `MS_` or `sqlite_`. No column is
    /// named `id` or like a system property. No two names differ in case only, because databases and servers ignore
    /// case. Parents are tables of the catalog, and no table is its own ancestor.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition``.
    public init(_ tables: [SyncTableDefinition]) throws(SyncError) {
        try Self.requireDistinct(tables.map(\.name), what: "tables")
        for table in tables {
            try Self.require(name: table.name, what: "table name")
            if table.name.isReservedTableName {
                throw .invalidDefinition("The table name '\(table.name)' is reserved for system tables.")
            }
            for column in table.columns {
                try Self.require(name: column.name, what: "column name of '\(table.name)'")
                try Self.requireOwn(column, of: table)
            }
            try Self.requireDistinct(table.columns.map(\.name), what: "columns of '\(table.name)'")
        }
        try Self.requireAcyclicParents(tables)
        self.tables = tables
    }

    /// Whether the store has a table of that name.
    package func contains(_ name: String) -> Bool { (try? table(named: name)) != nil }

    /// Returns the definition of that table. Names are compared byte for byte.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/unknownTable``.
    public func table(named name: String) throws(SyncError) -> SyncTableDefinition {
        // A store has few tables: a dictionary would be slower.
        guard let table = tables.first(where: { $0.name.hasSameBytes(as: name) }) else {
            let known = tables.map { "'\($0.name)'" }.joined(separator: ", ")
            throw SyncError(
                .unknownTable,
                "The store has no table '\(name)'. It was opened with \(known.isEmpty ? "no tables" : known)."
            )
        }
        return table
    }

    /// Checks that the parents are declared and form no cycle.
    private static func requireAcyclicParents(_ tables: [SyncTableDefinition]) throws(SyncError) {
        let names = Set(tables.map(\.name))
        for table in tables {
            for parent in table.parents where !names.contains(parent) {
                throw .invalidDefinition("The parent '\(parent)' of '\(table.name)' is not declared.")
            }
        }
        let cycle = tables.filter { !$0.parents.isEmpty }.cyclic { $0.parents.contains($1.name) }
        guard cycle.isEmpty else {
            let names = cycle.map(\.name).sorted().joined(separator: "', '")
            throw .invalidDefinition("The parents of the tables '\(names)' form a cycle.")
        }
    }

    private static func require(name: String, what: String) throws(SyncError) {
        guard name.isTableOrColumnName else {
            throw .invalidDefinition(
                "'\(name)' is not a valid \(what): use a letter or underscore, then letters, digits and "
                    + "underscores, at most 128.")
        }
    }

    private static func requireOwn(_ column: SyncColumn, of table: SyncTableDefinition) throws(SyncError) {
        let reserved = ["id"] + SystemProperties.names
        guard !reserved.contains(where: { $0.lowercased() == column.name.lowercased() }) else {
            throw .invalidDefinition(
                "Every table has the column '\(column.name)'. Remove it from the columns of '\(table.name)'.")
        }
    }

    private static func requireDistinct(_ names: [String], what: String) throws(SyncError) {
        var seen: [String: String] = [:]
        for name in names {
            guard let other = seen.updateValue(name, forKey: name.lowercased()) else { continue }
            throw .invalidDefinition(
                other == name
                    ? "'\(name)' is listed twice in the \(what). List it once."
                    : "Two \(what) have the name '\(name)' if case is ignored.")
        }
    }
}

extension TableCatalog {
    /// Returns the tables in the order in which their items can be removed, as far as there is one.
    ///
    /// - Parameter references: see ``StoreWithTriggers/references``.
    func childrenFirst(_ references: [String: Set<String>]) -> [SyncTableDefinition] {
        var (remaining, ordered) = (tables, [SyncTableDefinition]())
        func hasChildren(_ parent: SyncTableDefinition) -> Bool {
            remaining.contains { $0.name != parent.name && $0.parents(and: references).contains(parent.name) }
        }
        while !remaining.isEmpty {
            ordered.append(remaining.remove(at: remaining.firstIndex { !hasChildren($0) } ?? 0))
        }
        return ordered
    }

    /// Returns the names of the table's children, of their children, and so on.
    ///
    /// - Parameter references: see ``StoreWithTriggers/references``.
    func descendants(of table: String, _ references: [String: Set<String>]) -> [String] {
        var (found, count) = ([table], 0)
        while count < found.count {
            let parent = found[count]
            count += 1
            for table in tables
            where !found.contains(table.name) && table.parents(and: references).contains(parent) {
                found.append(table.name)
            }
        }
        return Array(found.dropFirst())
    }

    /// The length of the longest chain of ancestors of each table that has parents, and of each of its ancestors.
    package var depths: [String: Int] {
        var depths: [String: Int] = [:]
        let parents = Dictionary(
            tables.map { ($0.name, $0.parents) }, uniquingKeysWith: { first, _ in first })
        func depth(of table: String) -> Int {
            if let known = depths[table] { return known }
            let depth = (parents[table] ?? []).map { depth(of: $0) + 1 }.max() ?? 0
            depths[table] = depth
            return depth
        }
        for table in tables where !table.parents.isEmpty { _ = depth(of: table.name) }
        return depths
    }
}

extension String {
    /// Whether the string can be the name of a table or a column: an identifier of at most 128 bytes.
    package var isTableOrColumnName: Bool { isIdentifier && utf8.count <= 128 }

    /// Whether a table of that name would be one of a store or of SQLite.
    package var isReservedTableName: Bool {
        let lowercased = lowercased()
        return lowercased.hasPrefix("ms_") || lowercased.hasPrefix("sqlite_")
    }

    /// Whether the string is an ASCII letter or underscore, followed by letters, digits and underscores.
    package var isIdentifier: Bool {
        guard let first = utf8.first, !first.isASCIIDigit else { return false }
        return utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    }
}

extension SyncTableDefinition {
    /// Returns the declared parents, and the tables to which the foreign keys refer.
    fileprivate func parents(and references: [String: Set<String>]) -> Set<String> {
        (references[name] ?? []).union(parents)
    }
}
