// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// One step of a random script.
enum ModelStep: Sendable {
    /// A transaction; when `fails` is true, its body throws at the end.
    case write([ModelAction], fails: Bool)
    /// A snapshot with reads; when `fails` is true, its body throws at the end.
    case read([ModelRead], fails: Bool)
    /// Closes and reopens the store.
    case reopen
}

/// One call in a transaction.
enum ModelAction: Sendable {
    case insert(Item, table: String)
    case upsert([Item], table: String)
    case delete(ids: [String], table: String)
    case deleteMatching(TableQuery)
    case putOperation(TableOperation)
    /// Puts an operation with the next id.
    case appendOperation(item: String, table: String)
    case removeOperation(Int64)
    case putError(TableOperationError)
    case removeError(Int64)
    case setConfig(String?, ConfigKey)
    case lastOperationID
    case read(ModelRead)

    /// Performs the call and returns a description of its result or of its refusal.
    func result(_ transaction: any StoreTransaction) throws -> String {
        try describingRefusal { try perform(transaction) }
    }

    private func perform(_ transaction: any StoreTransaction) throws -> String {
        switch self {
        case .insert(let item, let table):
            return try transaction.insert(item, in: table) ? "inserted" : "exists"
        case .upsert(let items, let table): try transaction.upsert(items, in: table)
        case .delete(let ids, let table): try transaction.deleteItems(ids: ids, in: table)
        case .deleteMatching(let query): return "\(try transaction.deleteItems(matching: query)) deleted"
        case .putOperation(let operation): try transaction.put(operation)
        case .appendOperation(let item, let table):
            let id = try transaction.lastOperationID() + 1
            try transaction.put(TableOperation(id: id, table: table, itemID: item, kind: .update))
            return "operation \(id)"
        case .removeOperation(let id): try transaction.removeOperation(id: id)
        case .putError(let error): try transaction.put(error)
        case .removeError(let id): try transaction.removeOperationError(operationID: id)
        case .setConfig(let value, let key): try transaction.setConfigValue(value, for: key)
        case .lastOperationID: return "last operation \(try transaction.lastOperationID())"
        case .read(let read): return try read.perform(transaction)
        }
        return ""
    }
}

/// One read of a snapshot.
enum ModelRead: Sendable {
    case item(id: String, table: String)
    case query(TableQuery)
    case operation(Int64)
    case operations(after: Int64, table: String?, limit: Int)
    case operationsOfItem(id: String, table: String)
    case operationCount(table: String?)
    case error(Int64)
    case errors(table: String?)
    case config(ConfigKey)
    case configs(table: String, ConfigKey.Kind)

    /// Performs the read and returns a description of its result or of its refusal.
    func result(_ snapshot: any StoreSnapshot) throws -> String {
        try describingRefusal { try perform(snapshot) }
    }

    fileprivate func perform(_ snapshot: any StoreSnapshot) throws -> String {
        switch self {
        case .item(let id, let table): try snapshot.item(id: id, in: table).exactDescription
        case .query(let query):
            try snapshot.items(matching: query).exactDescription + rows(matching: query, in: snapshot)
        case .operation(let id): try snapshot.operation(id: id).exactDescription
        case .operations(let id, let table, let limit):
            try snapshot.operations(after: id, in: table, limit: limit).exactDescription
        case .operationsOfItem(let id, let table):
            try snapshot.operations(forItem: id, in: table).exactDescription
        case .operationCount(let table): try snapshot.operationCount(in: table).exactDescription
        case .error(let id): try snapshot.operationError(operationID: id).exactDescription
        case .errors(let table): try snapshot.operationErrors(in: table).exactDescription
        case .config(let key): try snapshot.configValue(key).exactDescription
        case .configs(let table, let kind):
            try snapshot.configValues(in: table, kind: kind).map { "\($0.key.exactDescription)=\($0.value)" }
                .exactDescription
        }
    }
}

/// Describes the rows of a query, of which some columns are read.
private func rows(matching query: TableQuery, in snapshot: any StoreSnapshot) throws -> String {
    let table = Fixture.tables.first { $0.name == query.table }
    let columns = table?.columns.dropFirst().reversed().map(\.name) ?? []
    let result = try snapshot.rows(matching: query, columns: columns)
    return ", by columns \(result.rows.exactDescription) of \(result.totalCount.exactDescription)"
}

/// Describes a refusal as a result: both stores must refuse the same calls with a message, and the transaction
/// continues.
private func describingRefusal(_ body: () throws -> String) throws -> String {
    do { return try body() } catch let error as SyncError {
        return "refused with code \(error.code.rawValue)\(error.message.isEmpty ? ", without a message" : "")"
    }
}

extension ModelStep: CustomStringConvertible {
    var description: String {
        switch self {
        case .write(let actions, let fails):
            "write { \(actions.map(\.description).joined(separator: "; "))\(fails ? "; throw" : "") }"
        case .read(let reads, let fails):
            "read { \(reads.map(\.description).joined(separator: "; "))\(fails ? "; throw" : "") }"
        case .reopen: "close and open again"
        }
    }
}

extension ModelAction: CustomStringConvertible {
    var description: String {
        switch self {
        case .insert(let item, let table): "insert \(item.exactDescription) in \(table)"
        case .upsert(let items, let table): "upsert \(items.exactDescription) in \(table)"
        case .delete(let ids, let table): "delete \(ids.exactDescription) in \(table)"
        case .deleteMatching(let query): "delete matching \(query.outline)"
        case .putOperation(let operation): "put \(operation.exactDescription)"
        case .appendOperation(let item, let table): "append operation of \(item.exactDescription) in \(table)"
        case .removeOperation(let id): "remove operation \(id)"
        case .putError(let error): "put \(error.exactDescription)"
        case .removeError(let id): "remove error \(id)"
        case .setConfig(let value, let key): "set \(key.exactDescription) = \(value.exactDescription)"
        case .lastOperationID: "last operation id?"
        case .read(let read): read.description
        }
    }
}

extension ModelRead: CustomStringConvertible {
    var description: String {
        switch self {
        case .item(let id, let table): "item \(id.exactDescription) in \(table)?"
        case .query(let query): "items matching \(query.outline)?"
        case .operation(let id): "operation \(id)?"
        case .operations(let id, let table, let limit):
            "operations after \(id) in \(table.exactDescription), limit \(limit)?"
        case .operationsOfItem(let id, let table): "operations of \(id.exactDescription) in \(table)?"
        case .operationCount(let table): "operation count in \(table.exactDescription)?"
        case .error(let id): "error \(id)?"
        case .errors(let table): "errors in \(table.exactDescription)?"
        case .config(let key): "config \(key.exactDescription)?"
        case .configs(let table, let kind): "config values of \(table)/\(kind.rawValue)?"
        }
    }
}
