// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import StoreMemory
import Synchronization
import TestSupport
import Testing

@testable import SyncCore

/// Rows that a transaction has recorded as stored, after the transaction has failed.
@Suite struct StalePageGuardTests {
    private let stalePages = StalePageGuard()

    /// A store whose commits fail with an error.
    private final class FailingStore: SyncContextDataSource {
        let base: MemoryStore
        let error: StoreError

        init(_ error: StoreError) throws {
            base = try MemoryStore(tables: [SyncTableDefinition("T", columns: [])])
            self.error = error
        }

        var catalog: TableCatalog { base.catalog }
        var capabilities: StoreCapabilities { base.capabilities }

        func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T { try base.read(body) }

        func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
            try base.write { transaction in
                _ = try body(transaction)
                throw error
            }
        }

        func close() { base.close() }
    }

    private static func row(version: String, second: Int) -> Item {
        let updatedAt = Timestamp("1970-01-01T00:00:0\(second)Z")
        return Item(id: "x", system: SystemProperties(updatedAt: updatedAt, version: version))
    }

    @Test func `a row with times is not the stored one without times that has its version`() {
        let pull = stalePages.beginPull(of: "T")
        let count = stalePages.storedRowCount
        let former = Item(id: "x", system: SystemProperties(version: "1"))
        stalePages.recordStored(former, id: "x", in: "T", from: StalePageGuard.pushes)
        let row = Self.row(version: "1", second: 2)
        #expect(stalePages.age(of: row, in: "T", since: count, for: pull) == .unknown)
        #expect(stalePages.age(of: former, in: "T", since: count, for: pull) == .stale)
        #expect(stalePages.age(of: row, in: "T", since: stalePages.storedRowCount, for: pull) == .current)
    }

    /// Records a row in a transaction that fails with the error, and returns the age of the same row in a page that was
    /// requested before.
    private func ageAfterFailure(_ error: StoreError, rowsBefore: [Item] = []) async throws
        -> StalePageGuard.Age
    {
        let pull = stalePages.beginPull(of: "T")
        let count = stalePages.storedRowCount
        stalePages.beginTransaction()
        for row in rowsBefore {
            stalePages.recordStored(row, id: row.id, in: "T", from: StalePageGuard.pushes)
        }
        let writer = GroupCommitWriter(
            dataSource: try FailingStore(error), executor: SyncEnvironment.live.executor,
            commits: CommitFeed(),
            stalePageGuard: stalePages)
        let row = Self.row(version: "2", second: 2)
        await #expect(throws: StoreError.self) {
            try await writer.write { [stalePages] _ in
                stalePages.recordStored(row, id: row.id, in: "T", from: StalePageGuard.pushes)
            }
        }
        return stalePages.age(of: row, in: "T", since: count, for: pull)
    }

    @Test func `a row of a transaction that failed does not make a page stale`() async throws {
        #expect(try await ageAfterFailure(StoreError(.full, "full")) == .current)
    }

    @Test func `the row recorded before counts again after the failure`() async throws {
        let later = Self.row(version: "3", second: 3)
        #expect(try await ageAfterFailure(StoreError(.full, "full"), rowsBefore: [later]) == .stale)
    }

    @Test func `a row of a transaction with an unknown outcome leaves the order open`() async throws {
        #expect(try await ageAfterFailure(StoreError(.outcomeUnknown, "lost")) == .unknown)
    }

    @Test func `a row of a run that the store has rolled back does not make a page stale`() async throws {
        let pull = stalePages.beginPull(of: "T")
        let count = stalePages.storedRowCount
        let store = RepeatingStore(try MemoryStore(tables: [SyncTableDefinition("T", columns: [])]))
        let writer = GroupCommitWriter(
            dataSource: store, executor: SyncEnvironment.live.executor, commits: CommitFeed(),
            stalePageGuard: stalePages)
        let row = Self.row(version: "2", second: 2)
        let runs = Mutex(0)
        try await writer.write { [stalePages] _ in
            let isFirst = runs.withLock { runs in
                runs += 1
                return runs == 1
            }
            if isFirst { stalePages.recordStored(row, id: row.id, in: "T", from: StalePageGuard.pushes) }
        }
        #expect(runs.withLock(\.self) == 2)
        #expect(stalePages.age(of: row, in: "T", since: count, for: pull) == .current)
    }

    @Test func `rows that pulls of other tables store are not recorded`() {
        let (pull, other) = (stalePages.beginPull(of: "T"), stalePages.beginPull(of: "U"))
        let count = stalePages.storedRowCount
        let row = Self.row(version: "2", second: 2)
        stalePages.recordStored(row, id: row.id, in: "U", from: other)
        #expect(stalePages.age(of: row, in: "U", since: count, for: pull) == .current)
        stalePages.recordStored(row, id: row.id, in: "T", from: other)
        #expect(stalePages.age(of: row, in: "T", since: count, for: pull) == .stale)
    }
}
