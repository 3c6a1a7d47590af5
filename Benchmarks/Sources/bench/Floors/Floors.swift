// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import SyncCore

/// The least that has to be done, with each database's own calls.
enum Floors {
    /// Items with their operations, so many to a transaction: every item once, or over and over.
    static func localWrites(_ todos: [TodoRow], batch: Int, kind: TableOperation.Kind = .insert) -> [Contender] {
        let numbers = OperationNumbers(todos)
        return [
            Contender(StoreKind.sqlite.floorName) { trial in
                let rows = RawRows(todos, kind: kind)
                let tables = try RawTables(path: trial.path("floor"))
                try await trial.measure {
                    for start in stride(from: 0, to: todos.count, by: batch) {
                        try tables.transaction {
                            for index in start..<min(start + batch, todos.count) {
                                let row = rows.rows[index]
                                try tables.put(row, of: rows, isFromServer: false)
                                try tables.putOperation(numbers[index], for: row, of: rows)
                            }
                        }
                    }
                }
                return try tables.checksum()
            },
            Contender(StoreKind.lmdb.floorName) { trial in
                let rows = RawRows(todos, kind: kind)
                let map = try RawMap(path: trial.path("floor"))
                try await trial.measure {
                    for start in stride(from: 0, to: todos.count, by: batch) {
                        try map.write { transaction in
                            for index in start..<min(start + batch, todos.count) {
                                try transaction.put(rows.rows[index])
                                try transaction.putOperation(numbers[index], for: rows.rows[index])
                            }
                        }
                    }
                }
                return try map.read { try $0.checksum() }
            },
            Contender(StoreKind.memory.floorName) { trial in
                let items = todos.map(\.item)
                var state = PlainState()
                try await trial.measure {
                    for (index, item) in items.enumerated() {
                        state.put(item)
                        state.put(
                            TableOperation(
                                id: Int64(numbers[index]), table: TodoRow.table, itemID: item.id, kind: kind))
                    }
                }
                return state.checksum
            },
        ]
    }
}

/// The operation that each write of an item belongs to: an item that is written again keeps its operation.
private struct OperationNumbers: Sendable {
    private let numbers: [Int]

    init(_ todos: [TodoRow]) {
        var known: [String: Int] = [:]
        numbers = todos.map { todo in
            if let number = known[todo.id] { return number }
            known[todo.id] = known.count + 1
            return known.count
        }
    }

    subscript(index: Int) -> Int { numbers[index] }
}
