// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import GRDB
import StoreConformance
import StoreSQLite
import SyncCore
import Synchronization
import TestSupport
import Testing

/// The commits that a store in the app's database reports, as its own or as the app's.
struct AppCommitTests {
    private let directory: TemporaryDirectory
    private let pool: DatabasePool
    private let observer = FollowUp()

    init() throws {
        directory = try TemporaryDirectory()
        pool = try DatabasePool(path: directory.file())
    }

    /// Opens the store, and adds the app's observer before or after that of the store.
    private func store(afterObserver: Bool = false) throws -> SQLiteStore {
        if afterObserver { pool.add(transactionObserver: observer, extent: .databaseLifetime) }
        let store = try SQLiteStore(database: pool, tables: [Things.definition])
        if !afterObserver { pool.add(transactionObserver: observer, extent: .databaseLifetime) }
        return store
    }

    private func insert(_ id: String) throws {
        try pool.write { try $0.execute(sql: "INSERT INTO Thing (id) VALUES (?)", arguments: [id]) }
    }

    @Test(arguments: [false, true])
    func `a commit of the app's observer right after a commit of the store is the app's`(
        afterObserver: Bool
    ) throws {
        let store = try store(afterObserver: afterObserver)
        let reports = Reports(of: store)
        observer.insert(afterNextCommit: .commit)
        try store.put(Item(id: "1"))
        try #expect(Set(store.things().items.map(\.id)) == ["1", "follow-up"])
        #expect(reports.counts == Reports.Counts(own: 1, external: 1))
    }

    @Test(arguments: [false, true])
    func `a commit of the app is reported although the app's observer rolls back a transaction after it`(
        afterObserver: Bool
    ) throws {
        let store = try store(afterObserver: afterObserver)
        let reports = Reports(of: store)
        observer.insert(afterNextCommit: .rollback)
        try insert("1")
        try #expect(store.things().items.map(\.id) == ["1"])
        #expect(reports.counts == Reports.Counts(own: 0, external: 1))
    }

    @Test func `a transaction that is rolled back is not reported`() throws {
        let store = try store()
        let reports = Reports(of: store)
        #expect(throws: CancellationError.self) {
            try store.write { transaction in
                try transaction.upsert([Item(id: "1")], in: "Thing")
                throw CancellationError()
            }
        }
        #expect(throws: CancellationError.self) {
            try pool.write { database in
                try database.execute(sql: "INSERT INTO Thing (id) VALUES ('1')")
                throw CancellationError()
            }
        }
        try pool.write { try $0.execute(sql: "CREATE TABLE mine(id INTEGER PRIMARY KEY)") }
        #expect(reports.counts == Reports.Counts(own: 0, external: 0))
    }

    /// A store's own commits concern observers of rows that the app's triggers change.
    @Test func `a wrapped store reports the same commits as the store`() throws {
        let store = FaultingStore(try store())
        let reports = Reports(of: store)
        try store.put(Item(id: "1"))
        #expect(reports.counts == Reports.Counts(own: 1, external: 0))
        try insert("2")
        #expect(reports.counts == Reports.Counts(own: 1, external: 1))
    }
}

/// Counts the commits that a store reports to its context.
private final class Reports: Sendable {
    struct Counts: Equatable {
        var own = 0
        var external = 0
    }

    private let state = Mutex(Counts())

    init(of store: any SyncContextDataSource) {
        store.onExternalCommit { self.state.withLock { $0.external += 1 } }
        (store as? any StoreWithTriggers)?.onOwnCommit { self.state.withLock { $0.own += 1 } }
    }

    var counts: Counts { state.withLock { $0 } }
}

/// An observer of the app that runs a transaction after a commit.
private final class FollowUp: TransactionObserver, Sendable {
    private let completion = Mutex<Database.TransactionCompletion?>(nil)

    /// Inserts a row after the next commit, and commits or rolls back.
    func insert(afterNextCommit completion: Database.TransactionCompletion) {
        self.completion.withLock { $0 = completion }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseDidCommit(_ database: Database) {
        // GRDB also calls this after the observer's own transaction.
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        guard let completion else { return }
        do {
            try database.inTransaction {
                try database.execute(sql: "INSERT INTO Thing (id) VALUES ('follow-up')")
                return completion
            }
        } catch {
            Issue.record(error)
        }
    }

    func databaseDidRollback(_ database: Database) {}
}
