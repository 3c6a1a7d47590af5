// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore

extension StoreRule {
    /// Closing a store that other threads use.
    @RuleList static var closingConcurrently: [StoreRule] {
        StoreRule(
            "concurrent.close",
            "Close waits for running transactions and refuses later ones; a waiting one is whole, or throws closed.",
            level: .concurrent
        ) { run in
            let store = try run.store
            let (inside, closing) = (Signal(), Signal())
            let ended = Shared(false)
            let group = ThreadGroup()
            group.start {
                try store.write { transaction in
                    inside.send()
                    _ = closing.wait(seconds: 0.1)
                    try transaction.upsert([Item(id: "a")], in: "Thing")
                    ended.change { $0 = true }
                }
            }
            try run.expect(run.wait(for: inside), "The write has started.")
            let endedBeforeClose = Shared(false)
            group.start {
                try store.close()
                endedBeforeClose.change { $0 = ended.value }
            }
            try run.join(group)
            try run.expect(endedBeforeClose.value, "Close returned after the running write.")
            try run.expect(throws: .closed, "a write afterwards") { try store.write { _ in } }
            for round in 0..<6 { try run.expectWholeCalls(besideCloseOf: "beside\(round)") }
            for _ in 0..<6 { try run.expectReopening(afterClosesOf: "twice") }
        }
        StoreRule(
            "concurrent.close.read", "Close waits for running reads, whose snapshots stay readable.",
            level: .concurrent
        ) { run in
            let store = try run.store
            try run.seedEverything()
            let (isCalling, hasClosed) = (Signal(), Signal())
            let group = ThreadGroup()
            var hasOverlapped = false
            var before: [String] = []
            var after: [String]?
            try store.read { snapshot in
                before = try Self.samples(snapshot)
                group.start {
                    isCalling.send()
                    try store.close()
                    hasClosed.send()
                }
                _ = run.wait(for: isCalling)
                hasOverlapped = hasClosed.wait(seconds: 0.2)
                after = try? Self.samples(snapshot)
            }
            try run.join(group)
            try run.expect(!hasOverlapped, "Close waited for the running read.")
            try run.expect(after, is: before, "the snapshot after close was called")
            try run.expect(throws: .closed, "a read afterwards") { try store.read { _ in } }
        }
    }
}

extension RuleRun {
    /// Writes and reads on several threads until the store is closed. Expects each write to be whole if it returned, and to
    /// have no effect if it threw `closed`.
    fileprivate func expectWholeCalls(besideCloseOf name: String) throws {
        let store = try open(name)
        let calls = CallsBesideClose(store: store)
        let group = ThreadGroup()
        for writer in 0..<3 { group.start { try calls.write("w\(writer)") } }
        for _ in 0..<2 { group.start { try calls.read() } }
        let hasStarted = wait(for: calls.hasWritten)
        try store.close()
        let running = calls.running.value
        try join(group)
        try expect(hasStarted, "Writes of several threads returned in time.")
        try expect(running, is: 0, "the bodies that ran when close returned")
        if store.capabilities.isDurable {
            try with(name) { try $0.read { try expectWrites(of: calls, in: $0) } }
        }
        try expect(calls.torn.value, is: [], "the snapshots that had a part of a write")
    }

    /// Closes a store on two threads. Expects each to be able to open it again, or to find it opened by the other one.
    fileprivate func expectReopening(afterClosesOf name: String) throws {
        let (store, path, harness) = (try open(name), try path(name), harness)
        let group = ThreadGroup()
        let hasReopened = Shared(false)
        group.start { try store.close() }
        group.start {
            try store.close()
            let again = try harness.open(at: path, tables: Fixture.tables)
            hasReopened.change { $0 = true }
            try again.close()
        }
        try join(group)
        try expect(hasReopened.value, "A store opened again after the second of two concurrent closes.")
    }

    private func expectWrites(of calls: CallsBesideClose, in snapshot: any StoreSnapshot) throws {
        let returned = calls.returned.value.sorted()
        let subject = "of the writes that returned beside close, in a later opening"
        for table in CallsBesideClose.tables {
            let ids = try snapshot.items(matching: TableQuery(table)).items.map(\.id)
            try expect(ids, is: returned, "the items in \(table) \(subject)")
        }
        let operations = try snapshot.operations(after: 0, in: nil, limit: .max)
        try expect(operations.map(\.itemID).sorted(), is: returned, "the operations \(subject)")
        let values = try snapshot.configValues(in: "Thing", kind: .setting)
        try expect(values.map(\.key.name).sorted(), is: returned, "the config values \(subject)")
    }
}

/// Calls on a store that another thread closes. Each write changes every kind of data.
private final class CallsBesideClose: Sendable {
    static let tables = ["Thing", "Thing2"]

    let store: any SyncContextDataSource
    /// Sent after several writes have returned, or when a writer ends.
    let hasWritten = Signal()
    /// The number of bodies that run.
    let running = Shared(0)
    let returned = Shared<[String]>([])
    /// Descriptions of the snapshots that had a part of a write.
    let torn = Shared<[String]>([])

    init(store: any SyncContextDataSource) { self.store = store }

    func write(_ writer: String) throws {
        defer { hasWritten.send() }
        try untilClosed { number in
            let id = "\(writer)-\(Fixture.number(number))"
            try store.write { transaction in
                running.change { $0 += 1 }
                defer { running.change { $0 -= 1 } }
                for table in Self.tables { try transaction.upsert([Item(id: id)], in: table) }
                try transaction.put(
                    Fixture.operation(try transaction.lastOperationID() + 1, item: id))
                try transaction.setConfigValue("v", for: Fixture.key(id, .setting))
            }
            returned.change { $0.append(id) }
            if number == 4 { hasWritten.send() }
        }
    }

    func read() throws {
        try untilClosed { _ in
            try store.read { snapshot in
                running.change { $0 += 1 }
                defer { running.change { $0 -= 1 } }
                let items = try Self.tables.map { try snapshot.items(matching: TableQuery($0)).items.count }
                let operations = try snapshot.operationCount(in: nil)
                let values = try snapshot.configValues(in: "Thing", kind: .setting).count
                let counts = items + [operations, values]
                if Set(counts).count > 1 { torn.change { $0.append("\(counts)") } }
            }
        }
    }

    private func untilClosed(_ call: (_ number: Int) throws -> Void) throws {
        var number = 0
        while true {
            do { try call(number) } catch let error as StoreError where error.code == .closed { return }
            number += 1
        }
    }
}
