// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// A table with a column of each type and a local-only column.
enum Thing {
    static let name = "Thing"
    static let columns: [SyncColumn] =
        ColumnType.allCases.map { SyncColumn($0.rawValue, $0, isIndexed: $0 == .text) }
        + [SyncColumn("note", .text, isLocalOnly: true)]
    static let definition = SyncTableDefinition(name, columns: columns)
    static let query = TableQuery(name)
}
