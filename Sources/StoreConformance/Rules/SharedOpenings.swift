// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import SyncCore

extension StoreRule {
    /// Openings of one store at the same time.
    @RuleList static var sharedOpenings: [StoreRule] {
        StoreRule(
            "capability.multi-process.opened-together",
            "Openings of a new store at the same time succeed, and none loses the tables or data of another.",
            level: .concurrent, requirement: .declared(.multiProcess)
        ) { run in
            for round in 0..<5 { try OpeningsTogether(run, name: "new\(round)").check() }
        }
        StoreRule(
            "capability.multi-process.processes.opened-together",
            "Openings of a new store by processes at the same time succeed, and none loses the data of another.",
            level: .concurrent, requirement: .otherProcess
        ) { run in
            for round in 0..<3 {
                let name = "new\(round)"
                try run.expectOpenings(by: 3, on: name)
                try run.with(name) { store in
                    try store.write { try $0.upsert([Item(id: "suite")], in: "Thing") }
                }
                let ids = try run.with(name) { store in
                    try store.read { try $0.items(matching: TableQuery("Thing")).items.map(\.id) }
                }
                try run.expect(
                    ids, is: ["child1", "child2", "child3", "suite"],
                    "the items of all openings in round \(round)")
            }
        }
    }
}

/// Threads that open a new store at the same time with different tables.
private struct OpeningsTogether {
    private let run: RuleRun
    private let name: String

    /// The tables of each opening.
    private static let tables = [
        [Fixture.thing, Fixture.thing2], [Fixture.thing, Fixture.order], [Fixture.thing],
    ]
    private static let count = 6

    init(_ run: RuleRun, name: String) { (self.run, self.name) = (run, name) }

    func check() throws {
        let opened = Shared<[any SyncContextDataSource]>([])
        defer { for store in opened.value { try? store.close() } }
        let (harness, path, trace) = (run.harness, try run.path(name), run.trace)
        let start = DispatchSemaphore(value: 0)
        let group = ThreadGroup()
        for number in 0..<Self.count {
            let tables = Self.tables[number % Self.tables.count]
            group.start {
                start.wait()
                trace.record("open '\(path)' on thread \(number)")
                let store = TracingStore(try harness.open(at: path, tables: tables), trace: trace)
                opened.change { $0.append(store) }
                try store.write { transaction in
                    for table in tables { try transaction.upsert([Item(id: "\(number)")], in: table.name) }
                    try transaction.put(
                        Fixture.operation(try transaction.lastOperationID() + 1, item: "\(number)"))
                }
            }
        }
        for _ in 0..<Self.count { start.signal() }
        try run.join(group)
        for store in opened.value { try expectContents(of: store, "in an opening of the same time") }
        try expectContents(of: try run.open(name), "in a later opening")
    }

    /// Expects the items of all openings in the tables of the opening, and their operations.
    private func expectContents(of store: any SyncContextDataSource, _ subject: String) throws {
        for table in store.catalog.tables {
            let numbers = (0..<Self.count).filter { number in
                Self.tables[number % Self.tables.count].contains { $0.name == table.name }
            }
            let ids = try store.read { try $0.items(matching: TableQuery(table.name)).items.map(\.id) }
            try run.expect(ids, is: numbers.map(String.init), "the items of '\(table.name)' \(subject)")
        }
        let items = try store.read { try $0.operations(after: 0, in: nil, limit: .max).map(\.itemID) }
        try run.expect(
            items.sorted(), is: (0..<Self.count).map(String.init), "the items of the operations \(subject)")
    }
}

extension RuleRun {
    /// Starts processes that open the store at the same time. Expects each to succeed.
    fileprivate func expectOpenings(by count: Int, on name: String) throws {
        guard count > 0 else { return }
        try withChild(.opening, count: count, on: name) { child in
            try expectOpenings(by: count - 1, on: name)
            try expect(
                child.next(), is: CrashChild.Opening.succeeded.rawValue,
                "the opening by process \(count), where 1 is success")
        }
    }
}
