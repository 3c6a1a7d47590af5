// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreConformance
import SyncCore
import Synchronization

/// A read that begins at its first question, on a thread that keeps the snapshot until the read ends.
final class LateSnapshot: StoreSnapshot, Sendable {
    private typealias Question = @Sendable (any StoreSnapshot) -> Void

    private let store: any SyncContextDataSource
    private let question = Mutex<Question?>(nil)
    private let isAsked = DispatchSemaphore(value: 0)
    private let isAnswered = DispatchSemaphore(value: 0)
    private let hasBegun = Shared(false)

    init(store: any SyncContextDataSource) { self.store = store }

    /// Ends the read.
    func end() {
        guard hasBegun.value else { return }
        question.withLock { $0 = nil }
        isAsked.signal()
        isAnswered.wait()
    }

    private func ask<T: Sendable>(_ body: @escaping @Sendable (any StoreSnapshot) throws -> T) throws -> T {
        if !hasBegun.value { begin() }
        let result = Shared<Result<T, any Error>?>(nil)
        question.withLock { question in
            question = { snapshot in
                let value = Result { try body(snapshot) }
                result.change { $0 = value }
            }
        }
        isAsked.signal()
        isAnswered.wait()
        guard let value = result.value else { throw StoreError(.inputOutput, "The read has ended.") }
        return try value.get()
    }

    private func begin() {
        hasBegun.change { $0 = true }
        let thread = Thread { [self] in
            try? store.read { snapshot in
                while true {
                    isAsked.wait()
                    guard let question = question.withLock({ $0 }) else { return }
                    question(snapshot)
                    isAnswered.signal()
                }
            }
            isAnswered.signal()
        }
        thread.start()
    }

    func item(id: String, in table: String) throws -> Item? { try ask { try $0.item(id: id, in: table) } }

    func items(matching query: TableQuery) throws -> QueryResult { try ask { try $0.items(matching: query) } }

    func operation(id: Int64) throws -> TableOperation? { try ask { try $0.operation(id: id) } }

    func operations(after id: Int64, in table: String?, limit: Int) throws -> [TableOperation] {
        try ask { try $0.operations(after: id, in: table, limit: limit) }
    }

    func operations(forItem itemID: String, in table: String) throws -> [TableOperation] {
        try ask { try $0.operations(forItem: itemID, in: table) }
    }

    func operationCount(in table: String?) throws -> Int { try ask { try $0.operationCount(in: table) } }

    func operationError(operationID: Int64) throws -> TableOperationError? {
        try ask { try $0.operationError(operationID: operationID) }
    }

    func operationErrors(in table: String?) throws -> [TableOperationError] {
        try ask { try $0.operationErrors(in: table) }
    }

    func configValue(_ key: ConfigKey) throws -> String? { try ask { try $0.configValue(key) } }

    func configValues(in table: String, kind: ConfigKey.Kind) throws -> [(key: ConfigKey, value: String)] {
        try ask { try $0.configValues(in: table, kind: kind) }
    }
}
