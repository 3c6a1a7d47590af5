// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

package import SyncCore

/// Helpers for the checks of rules.
extension RuleRun {
    func put(_ items: [Item], in table: String = "Thing") throws {
        try store.write { try $0.upsert(items, in: table) }
    }

    func put(_ operations: [TableOperation]) throws {
        try store.write { for operation in operations { try $0.put(operation) } }
    }

    func put(_ errors: [TableOperationError]) throws {
        try store.write { for error in errors { try $0.put(error) } }
    }

    func set(_ value: String?, for key: ConfigKey) throws {
        try store.write { try $0.setConfigValue(value, for: key) }
    }

    func delete(_ ids: [String], in table: String = "Thing") throws {
        try store.write { try $0.deleteItems(ids: ids, in: table) }
    }

    func item(_ id: String, in table: String = "Thing") throws -> Item? {
        try store.read { try $0.item(id: id, in: table) }
    }

    func find(_ query: TableQuery) throws -> QueryResult {
        try store.read { try $0.items(matching: query) }
    }

    /// Returns the rows that the query matches, with these columns, and the total count.
    func rows(
        _ query: TableQuery, _ columns: [String], _ body: (RowValues) throws -> Void = { _ in }
    ) throws -> (rows: [RowValues], totalCount: Int?) {
        try store.read { try $0.rows(matching: query, columns: columns, body) }
    }

    /// Returns the ids of all items of the table.
    func ids(_ table: String = "Thing") throws -> [String] {
        try find(TableQuery(table)).items.map(\.id)
    }

    func config(_ key: ConfigKey) throws -> String? { try store.read { try $0.configValue(key) } }

    func lastOperationID() throws -> Int64 { try store.write { try $0.lastOperationID() } }

    /// Returns the ids of the operations, in the store's order.
    func queue(after id: Int64 = 0, in table: String? = nil, limit: Int = .max) throws -> [Int64] {
        try store.read { try $0.operations(after: id, in: table, limit: limit).map(\.id) }
    }

    /// Stores the item and expects the same item by its id, by a query, and in the transaction itself.
    func expectExact(_ item: Item, in table: String = "Thing", _ subject: String) throws {
        let inside = try store.write { transaction in
            try transaction.upsert([item], in: table)
            return try transaction.item(id: item.id, in: table)
        }
        try expect(inside, is: item, "\(subject), read in the transaction that wrote it")
        try expect(try self.item(item.id, in: table), is: item, "\(subject), read by its id")
        let found = try find(TableQuery(table).where(.column("id") == item.id))
        try expect(found.items, is: [item], "\(subject), found by a query")
    }

    /// Stores an item with this value and expects the same item.
    func expectExact(_ value: ItemValue, in column: String, _ subject: String) throws {
        try expectExact(Item(id: "it", fields: [column: value]), subject)
    }

    /// Expects the body not to change the contents of the store.
    func expectUnchanged(_ subject: String, _ body: () throws -> Void) throws {
        let before = try StoreDump(store)
        try body()
        try expect(try StoreDump(store).lines, is: before.lines, subject)
    }
}

/// An error of the app, thrown from a body.
package struct AppError: Error, Equatable, CustomStringConvertible {
    let number: Int

    init(_ number: Int = 1) { self.number = number }

    package var description: String { "AppError(\(number))" }
}

extension StoreSnapshot {
    /// Returns the rows that the query matches, with these columns, and the total count.
    package func rows(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void = { _ in }
    ) throws -> (rows: [RowValues], totalCount: Int?) {
        var rows: [RowValues] = []
        let count = try forEachRow(matching: query, columns: columns) { row in
            rows.append(row)
            try body(row)
        }
        return (rows, count)
    }
}
