// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// All that a store tells about itself, as lines that can be compared.
struct StoreDump: Equatable {
    let lines: [String]

    /// - Parameter tables: table names that occur in operations or config beside those of the catalog.
    init(_ store: any SyncContextDataSource, tables: [String] = []) throws {
        self = try store.write { transaction in
            let names = store.catalog.tables.map(\.name)
            return try StoreDump(transaction, tables: names, others: tables)
        }
    }

    init(_ transaction: any StoreTransaction, tables: [String], others: [String] = []) throws {
        var lines: [String] = []
        for table in tables {
            let found = try transaction.items(matching: TableQuery(table).includingTotalCount())
            lines += found.items.map { "\(table): \($0.exactForm)" }
            lines.append("\(table): \(found.totalCount.exactForm) items")
        }
        lines += try transaction.operations(after: 0, in: nil, limit: .max).map(\.exactForm)
        lines.append("\(try transaction.operationCount(in: nil)) operations")
        lines += try transaction.operationErrors(in: nil).map(\.exactForm)
        for table in tables + others + [""] {
            for kind in ConfigKey.Kind.allCases {
                lines += try transaction.configValues(in: table, kind: kind).map {
                    "\($0.key.exactForm) = \($0.value.exactForm)"
                }
            }
        }
        lines.append("last operation \(try transaction.lastOperationID())")
        self.lines = lines
    }
}
