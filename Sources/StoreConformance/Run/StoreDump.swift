// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The complete contents of a store, as comparable lines.
struct StoreDump: Equatable {
    let lines: [String]

    init(_ store: any SyncContextDataSource) throws {
        let tables = store.catalog.tables.map(\.name)
        let lines = try store.read { try Self.lines(of: $0, tables) }
        let lastOperationID = try store.write { try $0.lastOperationID() }
        self.lines = lines + ["last operation \(lastOperationID)"]
    }

    private static func lines(of snapshot: any StoreSnapshot, _ tables: [String]) throws -> [String] {
        var lines: [String] = []
        for table in tables {
            let found = try snapshot.items(matching: TableQuery(table).includingTotalCount())
            lines += found.items.map { "\(table): \($0.exactDescription)" }
            lines.append("\(table): \(found.totalCount.exactDescription) items")
        }
        lines += try snapshot.operations(after: 0, in: nil, limit: .max).map(\.exactDescription)
        lines.append("\(try snapshot.operationCount(in: nil)) operations")
        lines += try snapshot.operationErrors(in: nil).map(\.exactDescription)
        for table in tables + [""] {
            for kind in ConfigKey.Kind.allCases {
                lines += try snapshot.configValues(in: table, kind: kind).map {
                    "\($0.key.exactDescription) = \($0.value.exactDescription)"
                }
            }
        }
        return lines
    }
}
