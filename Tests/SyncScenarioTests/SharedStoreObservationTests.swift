// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import TableServer
import TestSupport
import Testing

@testable import SyncCore

/// Observers see the commits of other processes, without a commit of their own.
@Suite struct SharedStoreObservationTests {
    private func run(_ body: (_ observing: Device, _ writing: Device) async throws -> Void) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            func device(_ name: String) throws -> Device {
                scenario.device(
                    on: try scenario.sharedStore(), name: name)
            }
            let (observing, writing) = (try device("A"), try device("B"))
            try await body(observing, writing)
            try await observing.context.close()
            try await writing.context.close()
        }
    }

    @Test func `an observed query has the rows that another process writes`() async throws {
        try await run { observing, writing in
            var results = observing.table.observe(Todo.query).makeAsyncIterator()
            #expect(try await results.next()?.items.isEmpty == true)
            try await writing.table.insert(["id": "x"])
            #expect(try await results.next()?.items.map(\.id) == ["x"])
            try await writing.table.delete(id: "x")
            #expect(try await results.next()?.items.isEmpty == true)
        }
    }

    @Test func `an observation misses no commit of another process if the store runs a body again`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let a = scenario.device(on: RepeatingStore(try scenario.sharedStore()))
            let b = scenario.device(on: try scenario.sharedStore())
            var results = a.table.observe(Todo.query.where(.column("text") == "seen")).makeAsyncIterator()
            #expect(try await results.next()?.items.isEmpty == true)
            try await b.table.insert(["id": "x", "text": "seen"])
            // The write changes no row of the query, and sees the commit of the other process.
            try await a.table.insert(["id": "y", "text": "other"])
            #expect(try await results.next()?.items.map(\.id) == ["x"])
            try await a.table.insert(["id": "z", "text": "seen"])
            #expect(try await results.next()?.items.map(\.id) == ["x", "z"])
            try await a.context.close()
            try await b.context.close()
        }
    }

    @Test func `an observed status counts the operations of another process`() async throws {
        try await run { observing, writing in
            var statuses = observing.context.observeStatus().makeAsyncIterator()
            #expect(try await statuses.next()?.pendingOperations == 0)
            try await writing.table.insert(["id": "x"])
            while let status = try await statuses.next(), status.pendingOperations == 0 {}
            #expect(try await observing.context.status().pendingOperations == 1)
        }
    }

    @Test func `an observation can be cancelled while another process holds the lock of the store`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let (checks, hasChecked) = AsyncStream.makeStream(of: Void.self)
            let a = scenario.device(on: try scenario.sharedStore()) {
                $0.sleep = { duration in
                    hasChecked.yield()
                    try await Task.sleep(for: .zero)
                }
            }
            let other = try scenario.sharedStore()
            let (locked, hasLocked) = AsyncStream.makeStream(of: Void.self)
            let release = DispatchSemaphore(value: 0)
            let thread = Thread {
                try? other.write { _ in
                    hasLocked.yield()
                    release.wait()
                }
            }
            var results = a.table.observe(Todo.query).makeAsyncIterator()
            _ = try await results.next()
            thread.start()
            for await _ in locked { break }
            let observation = Task {
                for try await _ in a.table.observe(Todo.query) {}
            }
            var checkCount = 0
            for await _ in checks {
                checkCount += 1
                if checkCount > 10 { break }
            }
            observation.cancel()
            try await observation.value
            release.signal()
            try await a.context.close()
            try other.close()
        }
    }

    @Test func `observers look together for the commits of other processes`() async throws {
        try await run { observing, _ in
            let (check, store) = (ExternalCommitCheck(), observing.context.store)
            #expect(check.delay(at: .seconds(100)) == SyncContext.externalCommitInterval)
            // Two observers wait at the same time, and the first one looks.
            let last = check.count
            #expect(check.begin(in: store, at: .seconds(100), after: last) == last + 1)
            #expect(check.begin(in: store, at: .seconds(100), after: last) == last + 1)
            // One that begins later waits for the same time.
            #expect(check.delay(at: .seconds(103)) == .seconds(2))
            #expect(check.begin(in: store, at: .seconds(105), after: last + 1) == last + 2)
            #expect(check.delay(at: .seconds(1000)) == SyncContext.externalCommitInterval)
        }
    }

    @Test func `an observation that waits for other processes ends when its context closes`() async throws {
        try await run { observing, _ in
            var results = observing.table.observe(Todo.query).makeAsyncIterator()
            _ = try await results.next()
            let context = observing.context
            async let closing: Void = context.close()
            #expect(try await results.next() == nil)
            try await closing
        }
    }
}
