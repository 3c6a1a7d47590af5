// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

@_spi(StoreAuthor) import SyncCore

/// The contents of a memory store, as one value.
struct MemoryState: Sendable {
    var tables: [String: MemoryTable]
    var queue = MemoryQueue()
    var errors = SortedMap<Int64, TableOperationError>()
    var config: [UTF8Text: SortedMap<UTF8Text, String>] = [:]

    init(_ catalog: TableCatalog) {
        tables = Dictionary(uniqueKeysWithValues: catalog.tables.map { ($0.name, MemoryTable($0)) })
    }
}

/// A copy of the state, used as a snapshot or changed by a transaction.
final class MemoryTransaction: StoreTransaction {
    private(set) var state: MemoryState
    private let catalog: TableCatalog

    init(state: MemoryState, catalog: TableCatalog) {
        self.state = state
        self.catalog = catalog
    }

    func item(id: String, in table: String) throws -> Item? {
        try self.table(table).item(id: id)
    }

    func items(matching query: TableQuery) throws -> QueryResult {
        try MemoryRows(table(query.table), query).result()
    }

    func forEachRow(
        matching query: TableQuery, columns: [String], _ body: (RowValues) throws -> Void
    ) throws -> Int? {
        var query = query
        query.selection = []
        return try MemoryRows(table(query.table), query).forEachRow(columns: columns, body)
    }

    func operation(id: Int64) -> TableOperation? { state.queue.operation(id: id) }

    func operations(after id: Int64, in table: String?, limit: Int) -> [TableOperation] {
        state.queue.operations(after: id, in: table, limit: limit)
    }

    func operations(forItem itemID: String, in table: String) -> [TableOperation] {
        state.queue.operations(ofItem: itemID, in: table)
    }

    func operationCount(in table: String?) -> Int { state.queue.count(in: table) }

    func operationError(operationID: Int64) -> TableOperationError? { state.errors[operationID] }

    func operationErrors(in table: String?) -> [TableOperationError] {
        state.errors.values.filter { table?.hasSameBytes(as: $0.table) ?? true }
    }

    func configValue(_ key: ConfigKey) -> String? { state.config[configSpace(key)]?[UTF8Text(key.name)] }

    func configValues(in table: String, kind: ConfigKey.Kind) -> [(key: ConfigKey, value: String)] {
        let values = state.config[configSpace(ConfigKey(table: table, kind: kind, name: ""))]
        return values?.entries(from: nil).map { entry in
            (ConfigKey(table: table, kind: kind, name: entry.key.text), entry.value)
        } ?? []
    }

    func upsert(_ items: [Item], in table: String) throws {
        let name = try catalog.table(named: table).name
        for item in items { state.tables[name]?.upsert(item) }
    }

    func deleteItems(ids: [String], in table: String) throws {
        let name = try catalog.table(named: table).name
        for id in ids { state.tables[name]?.deleteItem(id: id) }
    }

    func deleteItems(matching query: TableQuery) throws -> Int {
        let found = try items(matching: query).items
        try deleteItems(ids: found.map(\.id), in: query.table)
        return found.count
    }

    func lastOperationID() -> Int64 { state.queue.lastID }

    func put(_ operation: TableOperation) { state.queue.put(operation) }

    func removeOperation(id: Int64) { state.queue.remove(id: id) }

    func put(_ error: TableOperationError) { state.errors[error.operationID] = error }

    func removeOperationError(operationID: Int64) { state.errors[operationID] = nil }

    func setConfigValue(_ value: String?, for key: ConfigKey) {
        state.config[configSpace(key), default: SortedMap()][UTF8Text(key.name)] = value
    }

    private func table(_ name: String) throws -> MemoryTable {
        let definition = try catalog.table(named: name)
        return state.tables[definition.name] ?? MemoryTable(definition)
    }

    private func configSpace(_ key: ConfigKey) -> UTF8Text { UTF8Text("\(key.kind.rawValue)/\(key.table)") }
}
