// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreLMDB
import SyncCore
import Synchronization
import TestSupport

/// A temporary directory for one test, and the path of a store in it.
struct TemporaryStore {
    static let todo = SyncTableDefinition(
        "Todo", columns: [SyncColumn("text", .text), SyncColumn("rank", .integer), SyncColumn("data", .data)])

    let directory: String
    var path: String { directory + "/store.lmdb" }

    func open(
        tables: [SyncTableDefinition] = [todo], mapSize: Int = LMDBStore.defaultMapSize,
        maximumSize: Int = LMDBStore.defaultMaximumSize, maxReaders: Int = 512
    ) throws -> LMDBStore {
        try LMDBStore(
            path: path, tables: tables, mapSize: mapSize, maximumSize: maximumSize, maxReaders: maxReaders)
    }

    /// Opens and closes the store; returns the code of the error, or `nil`.
    func refusal(path: String? = nil, tables: [SyncTableDefinition] = [todo]) -> StoreError.Code? {
        do {
            try LMDBStore(path: path ?? self.path, tables: tables).close()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    /// Runs the body with a new directory, then removes the directory.
    static func with<T>(_ body: (TemporaryStore) throws -> T) throws -> T {
        try withTemporaryDirectory { try body(TemporaryStore(directory: $0.path)) }
    }
}

extension LMDBStore {
    func ids() throws -> [String] {
        try read { try $0.items(matching: TableQuery("Todo").select("id")).items.map(\.id) }
    }

    func put(_ ids: [String], text: String = "") throws {
        try write { try $0.upsert(ids.map { Item(id: $0, fields: ["text": .text(text)]) }, in: "Todo") }
    }
}

/// Real threads, because a store's calls block and the test threads are limited.
final class Threads: Sendable {
    private let group = DispatchGroup()
    private let failure = Mutex<(any Error)?>(nil)

    func start(_ body: @escaping @Sendable () throws -> Void) {
        group.enter()
        let thread = Thread { [group] in
            do { try body() } catch { self.failure.withLock { $0 = error } }
            group.leave()
        }
        thread.stackSize = 1 << 20
        thread.start()
    }

    /// Waits for all threads and throws the error of one of them.
    func join() throws {
        group.wait()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

/// A counter shared by threads.
final class Counter: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .sequentiallyConsistent) }

    func increment() { count.add(1, ordering: .sequentiallyConsistent) }
}
