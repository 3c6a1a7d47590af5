// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The complete contents of a store, as comparable lines.
struct StoreDump: Equatable {
    let lines: [String]

    /// Reads before it writes: a write can remove what a transaction has left behind.
    init(_ store: any SyncContextDataSource) throws {
        let store = Self.untraced(store)
        let lines = try Self.linesOfRead(store)
        let lastID = try store.write { try $0.lastOperationID() }
        self.lines = lines + ["last operation \(lastID)"]
    }

    /// Returns the contents as a read sees them, without the last operation id.
    static func linesOfRead(_ store: any SyncContextDataSource) throws -> [String] {
        let store = untraced(store)
        return try store.read { try Self.lines(of: $0, store.catalog.tables) }
    }

    private static func untraced(_ store: any SyncContextDataSource) -> any SyncContextDataSource {
        (store as? TracingStore)?.baseForDump ?? store
    }

    private static func lines(
        of snapshot: any StoreSnapshot, _ tables: [SyncTableDefinition]
    ) throws -> [String] {
        let names = tables.map(\.name)
        var lines: [String] = []
        for table in tables { lines += try itemLines(of: snapshot, table) }
        lines += try queueLines(of: snapshot, names)
        lines += try snapshot.operationErrors(in: nil).map(\.exactDescription)
        for table in names + [""] {
            for kind in ConfigKey.Kind.allCases {
                lines += try snapshot.configValues(in: table, kind: kind).map {
                    "\($0.key.exactDescription) = \($0.value.exactDescription)"
                }
            }
        }
        return lines
    }

    /// Returns the items, and the ids that each value of an indexed column finds.
    private static func itemLines(
        of snapshot: any StoreSnapshot, _ table: SyncTableDefinition
    ) throws -> [String] {
        let query = TableQuery(table.name)
        let found = try snapshot.items(matching: query.includingTotalCount())
        var lines = found.items.map { "\(table.name): \($0.exactDescription)" }
        lines.append("\(table.name): \(found.totalCount.exactDescription) items")
        for column in table.indexedColumns.map(\.name) {
            for value in distinct(found.items.compactMap { $0[column] }) where value != .null {
                let equals = Filter.comparison(.equal, .column(column), .constant(value))
                let ids = try snapshot.items(matching: query.where(equals)).items.map(\.id)
                lines.append(
                    "\(table.name) by \(column) \(value.exactDescription): \(ids.exactDescription)")
            }
        }
        return lines
    }

    /// Returns the queue, and what is found in it by tables and by items.
    private static func queueLines(of snapshot: any StoreSnapshot, _ tables: [String]) throws -> [String] {
        let operations = try snapshot.operations(after: 0, in: nil, limit: .max)
        let count = try snapshot.operationCount(in: nil)
        var lines = operations.map(\.exactDescription)
        lines.append("\(count) operations")
        for table in distinct(tables + operations.map(\.table)) {
            let ids = try snapshot.operations(after: 0, in: table, limit: .max).map(\.id)
            let count = try snapshot.operationCount(in: table)
            lines.append("\(table.exactDescription): \(count) operations, \(ids.exactDescription)")
        }
        for item in distinct(operations.map { [$0.table, $0.itemID] }) {
            let ids = try snapshot.operations(forItem: item[1], in: item[0]).map(\.id)
            lines.append("operations of \(item.exactDescription): \(ids.exactDescription)")
        }
        return lines
    }

    /// Returns the elements without repetitions, in their order.
    private static func distinct<Element: ExactlyDescribed>(_ elements: [Element]) -> [Element] {
        var known: Set<String> = []
        return elements.filter { known.insert($0.exactDescription).inserted }
    }
}
