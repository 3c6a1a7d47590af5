// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

extension Connection {
    /// Returns for each of the tables the other ones to which its foreign keys refer. SQLite ignores the case of names.
    func references(between tables: [String]) throws -> [String: Set<String>] {
        var references: [String: Set<String>] = [:]
        let names = Dictionary(tables.map { ($0.lowercased(), $0) }) { first, _ in first }
        for table in tables {
            let keys = try prepared("SELECT \"table\" FROM pragma_foreign_key_list(?)")
            try keys.bind(table, at: 1)
            try keys.forEachRow { row in
                guard let name = row.schemaText(at: 0).flatMap({ names[$0.lowercased()] }), name != table
                else { return }
                references[table, default: []].insert(name)
            }
        }
        return references
    }
}
