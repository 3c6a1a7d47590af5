// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncCore
import Synchronization
import Testing

/// A table with a column of every type.
enum Things {
    static let definition = SyncTableDefinition(
        "Thing",
        columns: [
            SyncColumn("flag", .bool, isIndexed: true), SyncColumn("count", .integer, isIndexed: true),
            SyncColumn("size", .double, isIndexed: true), SyncColumn("text", .text, isIndexed: true),
            SyncColumn("due", .date, isIndexed: true), SyncColumn("blob", .data), SyncColumn("extra", .json),
            SyncColumn("note", .text), SyncColumn("other", .integer), SyncColumn("ratio", .double),
            SyncColumn("done", .date),
        ])

    static func store(at path: String) throws -> SQLiteStore {
        try SQLiteStore(path: path, tables: [definition])
    }
}

extension SyncContextDataSource {
    /// Upserts the items into the table `Thing`.
    func put(_ items: Item...) throws { try write { try $0.upsert(items, in: "Thing") } }

    func thing(_ id: String) throws -> Item? { try read { try $0.item(id: id, in: "Thing") } }

    func things(_ query: TableQuery = TableQuery("Thing")) throws -> QueryResult {
        try read { try $0.items(matching: query) }
    }

    func ids(_ filter: Filter) throws -> [String] {
        try things(TableQuery("Thing").where(filter)).items.map(\.id)
    }
}

/// Expects the body to throw a store error with this code.
func expectStoreError<T>(
    _ code: StoreError.Code, naming parts: [String] = [], sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> T
) {
    do {
        _ = try body()
        Issue.record("Nothing was thrown.", sourceLocation: sourceLocation)
    } catch let error as StoreError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        #expect(!error.message.isEmpty, sourceLocation: sourceLocation)
        let missing = parts.filter { !error.message.contains($0) }
        #expect(missing == [], "\(error.message)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("Another error was thrown: \(error)", sourceLocation: sourceLocation)
    }
}

/// Work on a separate thread, which a test can wait for without blocking other tests.
final class ThreadWork<T: Sendable>: Sendable {
    private let result = Mutex<Result<T, any Error>?>(nil)
    private let isDone = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> T) {
        Thread {
            let result = Result(catching: body)
            self.result.withLock { $0 = result }
            self.isDone.signal()
        }.start()
    }

    /// Waits for the work and returns its result; call it once.
    func value() throws -> T {
        isDone.wait()
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
