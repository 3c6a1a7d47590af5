// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

/// The checked table definitions of one store.
///
/// A store builds its catalog when it opens, so that bad names are refused before anything is created.
public struct TableCatalog: Sendable {
    /// The definitions, in the order given.
    public let tables: [SyncTableDefinition]
    private let tablesByName: [String: SyncTableDefinition]

    /// Checks the definitions.
    ///
    /// Names follow `[A-Za-z_][A-Za-z0-9_]{0,127}`. No table may begin with `MS_` or `sqlite_`, no column may be
    /// called `id` or like a system property, and no two names may differ in case alone, because databases
    /// and servers ignore it. Parents are tables of the catalog, and no table is its own ancestor.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidTableDefinition``.
    public init(_ tables: [SyncTableDefinition]) throws(SyncError) {
        try Self.requireDistinct(tables.map(\.name), what: "tables")
        for table in tables {
            try Self.require(name: table.name, what: "table name")
            let lowercased = table.name.lowercased()
            if lowercased.hasPrefix("ms_") || lowercased.hasPrefix("sqlite_") {
                throw .invalidDefinition("The table name '\(table.name)' is reserved for system tables.")
            }
            try Self.requireDistinct(
                table.columns.map(\.name) + ["id"] + SystemProperties.names,
                what: "columns of '\(table.name)'")
            for column in table.columns {
                try Self.require(name: column.name, what: "column name of '\(table.name)'")
            }
        }
        try Self.requireOrder(tables)
        self.tables = tables
        tablesByName = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, $0) })
    }

    /// The definition of that table. Names are compared byte for byte.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/unknownTable``.
    public func table(named name: String) throws(SyncError) -> SyncTableDefinition {
        guard let table = tablesByName[name], table.name.hasSameBytes(as: name) else {
            let known = tables.map { "'\($0.name)'" }.joined(separator: ", ")
            throw SyncError(
                .unknownTable,
                "There is no table '\(name)' in this store; it was opened with \(known.isEmpty ? "none" : known)."
            )
        }
        return table
    }

    /// Takes away tables whose parents are all gone, until none is left.
    private static func requireOrder(_ tables: [SyncTableDefinition]) throws(SyncError) {
        let names = Set(tables.map(\.name))
        for table in tables {
            for parent in table.parents where !names.contains(parent) {
                throw .invalidDefinition("'\(table.name)' names a parent '\(parent)' that is not declared.")
            }
        }
        var remaining = tables.filter { !$0.parents.isEmpty }
        while !remaining.isEmpty {
            let names = Set(remaining.map(\.name))
            let next = remaining.filter { !names.isDisjoint(with: $0.parents) }
            guard next.count < remaining.count else {
                let circle = names.sorted().joined(separator: "', '")
                throw .invalidDefinition("The tables '\(circle)' are parents of each other in a circle.")
            }
            remaining = next
        }
    }

    private static func require(name: String, what: String) throws(SyncError) {
        guard name.isIdentifier, name.utf8.count <= 128 else {
            throw .invalidDefinition(
                "'\(name)' cannot be a \(what): use a letter or underscore, then letters, digits and "
                    + "underscores, at most 128.")
        }
    }

    private static func requireDistinct(_ names: [String], what: String) throws(SyncError) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name.lowercased()).inserted {
            throw .invalidDefinition("Two \(what) are called '\(name)' when case is ignored.")
        }
    }
}

extension String {
    /// Whether the text is an ASCII letter or underscore, followed by letters, digits and underscores.
    package var isIdentifier: Bool {
        guard let first = utf8.first, !first.isASCIIDigit else { return false }
        return utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
    }
}

extension UInt8 {
    package var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
    package var isASCIILetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
}
