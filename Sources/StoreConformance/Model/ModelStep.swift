// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// One step of a random script.
enum ModelStep: Sendable {
    /// A transaction; it throws at its end when it fails.
    case write([ModelAct], fails: Bool)
    /// A read with its questions; it throws at its end when it fails.
    case read([ModelQuestion], fails: Bool)
    /// The store is closed and opened again.
    case reopen
}

/// What a transaction does.
enum ModelAct: Sendable {
    case insert(Item, table: String)
    case upsert([Item], table: String)
    case delete(ids: [String], table: String)
    case deleteMatching(TableQuery)
    case putOperation(TableOperation)
    /// Puts an operation with the id after the last.
    case appendOperation(item: String, table: String)
    case removeOperation(Int64)
    case putError(TableOperationError)
    case removeError(Int64)
    case setConfig(String?, ConfigKey)
    case askLastOperationID
    case ask(ModelQuestion)

    /// Does it, and tells what came back, or how it was refused.
    func tell(_ transaction: any StoreTransaction) throws -> String {
        try refusalsTold { try perform(transaction) }
    }

    private func perform(_ transaction: any StoreTransaction) throws -> String {
        switch self {
        case .insert(let item, let table):
            return try transaction.insert(item, in: table) ? "inserted" : "there already"
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
        case .askLastOperationID: return "last operation \(try transaction.lastOperationID())"
        case .ask(let question): return try question.answer(transaction)
        }
        return ""
    }
}

/// What a snapshot is asked.
enum ModelQuestion: Sendable {
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

    /// What the answer is, or how the question was refused.
    func tell(_ snapshot: any StoreSnapshot) throws -> String {
        try refusalsTold { try answer(snapshot) }
    }

    fileprivate func answer(_ snapshot: any StoreSnapshot) throws -> String {
        switch self {
        case .item(let id, let table): try snapshot.item(id: id, in: table).exactForm
        case .query(let query): try snapshot.items(matching: query).exactForm
        case .operation(let id): try snapshot.operation(id: id).exactForm
        case .operations(let id, let table, let limit):
            try snapshot.operations(after: id, in: table, limit: limit).exactForm
        case .operationsOfItem(let id, let table):
            try snapshot.operations(forItem: id, in: table).exactForm
        case .operationCount(let table): try snapshot.operationCount(in: table).exactForm
        case .error(let id): try snapshot.operationError(operationID: id).exactForm
        case .errors(let table): try snapshot.operationErrors(in: table).exactForm
        case .config(let key): try snapshot.configValue(key).exactForm
        case .configs(let table, let kind):
            try snapshot.configValues(in: table, kind: kind).map { "\($0.key.exactForm)=\($0.value)" }
                .exactForm
        }
    }
}

/// A refusal is an answer: the store must refuse the same, with a sentence, and the transaction goes on.
private func refusalsTold(_ body: () throws -> String) throws -> String {
    do { return try body() } catch let error as SyncError {
        return "refused with code \(error.code.rawValue)\(error.message.isEmpty ? ", without a word" : "")"
    }
}

extension ModelStep: CustomStringConvertible {
    var description: String {
        switch self {
        case .write(let acts, let fails):
            "write { \(acts.map(\.description).joined(separator: "; "))\(fails ? "; throw" : "") }"
        case .read(let questions, let fails):
            "read { \(questions.map(\.description).joined(separator: "; "))\(fails ? "; throw" : "") }"
        case .reopen: "close and open again"
        }
    }
}

extension ModelAct: CustomStringConvertible {
    var description: String {
        switch self {
        case .insert(let item, let table): "insert \(item.exactForm) in \(table)"
        case .upsert(let items, let table): "upsert \(items.exactForm) in \(table)"
        case .delete(let ids, let table): "delete \(ids.exactForm) in \(table)"
        case .deleteMatching(let query): "delete matching \(query.outline)"
        case .putOperation(let operation): "put \(operation.exactForm)"
        case .appendOperation(let item, let table): "append operation of \(item.exactForm) in \(table)"
        case .removeOperation(let id): "remove operation \(id)"
        case .putError(let error): "put \(error.exactForm)"
        case .removeError(let id): "remove error \(id)"
        case .setConfig(let value, let key): "set \(key.exactForm) = \(value.exactForm)"
        case .askLastOperationID: "last operation id?"
        case .ask(let question): question.description
        }
    }
}

extension ModelQuestion: CustomStringConvertible {
    var description: String {
        switch self {
        case .item(let id, let table): "item \(id.exactForm) in \(table)?"
        case .query(let query): "items matching \(query.outline)?"
        case .operation(let id): "operation \(id)?"
        case .operations(let id, let table, let limit):
            "operations after \(id) in \(table.exactForm), limit \(limit)?"
        case .operationsOfItem(let id, let table): "operations of \(id.exactForm) in \(table)?"
        case .operationCount(let table): "operation count in \(table.exactForm)?"
        case .error(let id): "error \(id)?"
        case .errors(let table): "errors in \(table.exactForm)?"
        case .config(let key): "config \(key.exactForm)?"
        case .configs(let table, let kind): "config values of \(table)/\(kind.rawValue)?"
        }
    }
}
