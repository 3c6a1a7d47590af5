// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import StoreSQLite
import Synchronization
import TableServer
import TestSupport
import Testing

@testable import SyncCore

/// Errors and results of operations in two processes with one file.
@Suite struct SharedStoreDecisionTests {
    @Test func `a stale page does not restore an item that another process deleted after its row was gone`()
        async throws
    {
        try await Scenario.run(
            on: .sqlite, configure: { $0.tables = [.init(Todo.name, softDelete: false)] }
        ) { scenario in
            let page = HeldResponseTransport()
            let first = scenario.device(on: try scenario.sharedStore(), name: "A", settings: .singleAttempt)
            let second = scenario.device(
                on: try scenario.sharedStore(), name: "B", settings: .singleAttempt, transport: page)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await first.sync()
            page.holdNext()
            let pull = Task { try await second.context.pull(Todo.query, settings: .withoutPush) }
            try await page.waitForResponse()
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            try await first.table.update(id: "x", ["text": "two"])
            _ = try await scenario.push(first) { _ in try await first.table.delete(id: "x") }
            #expect(try await first.operations().isEmpty)
            page.release()
            _ = try await pull.value
            #expect(try await second.item("x") == nil)
            try await first.context.close()
            try await second.context.close()
        }
    }

    @Test func `the error of an operation shows the deletion that another process has queued behind it`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            func device(_ name: String) throws -> Device {
                scenario.device(
                    on: try scenario.sharedStore(), name: name,
                    settings: .singleAttempt)
            }
            let (first, second) = (try device("A"), try device("B"))
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await first.sync()
            try await first.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            // The operation may have been applied, so that it keeps its place before a change of the other process.
            scenario.server.inject(.dropAnswer)
            await expectError(.pushAbortedNetwork) { try await first.context.push() }
            #expect(try await first.expectPushError().kind == .update)
            try await second.table.delete(id: "x")
            let error = try await first.expectPushError()
            #expect(error.kind == .delete)
            #expect(error.item?["text"] == "ours")
            try await first.context.changeKind(for: error, to: .delete)
            try await first.context.push()
            #expect(try scenario.row("x")?.deleted == true)
            try await first.context.close()
            try await second.context.close()
        }
    }

    private static let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])

    /// Runs the body with an app, and an extension that does not declare the app's table `Other`.
    private func withExtension(
        _ body: (_ scenario: Scenario, _ app: () throws -> Device, _ extension: Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: .sqlite) { scenario in
            func device(_ name: String, _ tables: [SyncTableDefinition]) throws -> Device {
                scenario.device(
                    on: try scenario.sharedStore(tables: tables), name: name,
                    settings: .singleAttempt)
            }
            let part = try device("B", [Todo.definition])
            try await body(scenario, { try device("A", [Todo.definition, Self.other]) }, part)
            try await part.context.close()
        }
    }

    @Test(arguments: ["o", "\u{301}o"])
    func `a row whose operation was discarded without its table is pulled again`(_ id: String) async throws {
        try await withExtension { scenario, open, part in
            try await scenario.server.put(id, ["text": "one"], in: "Other")
            let app = try open()
            try await app.context.pull(TableQuery("Other"), queryID: "all")
            try await app.context.table("Other").update(id: id, ["text": "two"])
            let error = try #require(try await part.context.push().errors.first)
            #expect(error.code == .unknownTable)
            try await part.context.cancelAndDiscardItem(for: error)
            // The app has the row again, and a delta token after it.
            try await app.context.pull(TableQuery("Other"), queryID: "all")
            try await app.context.close()
            let again = try open()
            try await again.context.pull(TableQuery("Other"), queryID: "all")
            #expect(try await again.context.table("Other").items().map { $0["text"] } == ["one"])
            try await again.context.close()
        }
    }

    @Test func `a push without the table keeps the conflict that another process has to decide`() async throws
    {
        try await withExtension { scenario, open, part in
            try await scenario.server.put("o", ["text": "one"], in: "Other")
            let app = try open()
            try await app.context.pull(TableQuery("Other"), queryID: "all")
            try await app.context.table("Other").update(id: "o", ["text": "two"])
            try await scenario.server.update("o", ["text": "theirs"], in: "Other")
            #expect(try await app.expectPushError().isConflict)
            #expect(try await part.context.push().errors.map(\.itemID) == ["o"])
            #expect(try await app.context.operationErrors().map(\.isConflict) == [true])
            #expect(try await app.context.status().conflictingOperations == 1)
            try await app.context.close()
        }
    }

    /// The two ids are canonically equivalent.
    @Test func `a purge removes an item although another process inserts one with an equivalent id`()
        async throws
    {
        try await withExtension { scenario, open, part in
            try await scenario.server.put("e\u{301}", ["text": "one"], in: "Other")
            let app = try open()
            try await app.context.pull(TableQuery("Other"), queryID: "all")
            try await part.context.purgeAll(pending: .discard)
            try await app.context.table("Other").insert(["id": "\u{e9}"])
            try await app.context.close()
            let again = try open()
            let ids = try await again.context.table("Other").items().map { Array($0.id.utf8) }
            #expect(ids == [Array("\u{e9}".utf8)])
            try await again.context.close()
        }
    }

    @Test func `the records of removed rows end with a purge`() async throws {
        try await withExtension { scenario, open, part in
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await part.sync()
            try await part.table.delete(id: "x")
            try await part.context.push()
            func records() throws -> [String] {
                try part.store.read { try $0.configValues(in: Todo.name, kind: .removedRow).map(\.key.name) }
            }
            #expect(try records() == ["x"])
            try await part.context.purgeAll()
            #expect(try records().isEmpty)
        }
    }

    @Test func `a decision of another process stays when a resolver decides after it`() async throws {
        let (begins, ends) = (TestSignal(), TestSignal())
        try await Scenario.run(on: .sqlite) { scenario in
            func device(_ name: String, _ resolver: ConflictResolver) throws -> Device {
                scenario.device(
                    on: try scenario.sharedStore(), name: name,
                    settings: .resolving(resolver))
            }
            let first = try device(
                "A",
                ConflictResolver { _ in
                    begins.send()
                    try await ends.wait()
                    return .keepServer
                })
            let second = try device("B", .clientWins)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await first.sync()
            try await first.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let push = Task { try await first.context.push() }
            try await begins.wait()
            try await scenario.server.update("x", ["text": "theirs again"], in: Todo.name)
            try await second.pullWithoutPush()
            #expect(try await second.operations().map(\.base?.fields["text"]) == ["theirs again"])
            ends.finish()
            _ = try await push.value
            #expect(try scenario.serverTexts() == ["ours"])
            try await scenario.expectAgreement(first)
            try await first.context.close()
            try await second.context.close()
        }
    }

    @Test func `a decision of another process stays when a resolver has not begun`() async throws {
        let (fails, decided) = (TestSignal(), DispatchSemaphore(value: 0))
        try await Scenario.run(on: .sqlite) { scenario in
            let waiting = WaitingStore(try scenario.sharedStore()) {
                fails.send()
                decided.wait()
            }
            let first = scenario.device(on: waiting, name: "A", settings: .resolving(.serverWins))
            let second = scenario.device(on: try scenario.sharedStore(), name: "B", settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await first.sync()
            try await first.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let push = Task { try await first.context.push() }
            try await fails.wait()
            let error = try #require(try await second.context.operationErrors().first)
            var merged = try #require(error.serverItem)
            merged["text"] = "merged"
            try await second.context.keepAndUpdateItem(for: error, with: merged)
            decided.signal()
            _ = try await push.value
            #expect(try scenario.serverTexts() == ["merged"])
            try await scenario.expectAgreement(first)
            try await first.context.close()
            try await second.context.close()
        }
    }

    @Test func `no other process pushes until operations are discarded, although the own push has ended`()
        async throws
    {
        try await Scenario.run(on: .sqlite) { scenario in
            let devices = try ["A", "B"].map {
                scenario.device(
                    on: try scenario.sharedStore(), name: $0,
                    settings: .singleAttempt)
            }
            let (first, second) = (devices[0].context, devices[1].context)
            try await devices[0].table.insert(["id": "x"])
            let (begins, ends) = (TestSignal(), TestSignal())
            let push = Task {
                try await first.withPushLock {
                    begins.send()
                    try await ends.wait()
                }
            }
            try await begins.wait()
            try await first.withoutOtherPushes(if: true) {
                ends.finish()
                try await push.value
                await expectError(.purgeRefused) { try await second.purge(Todo.query, pending: .discard) }
            }
            try await second.purge(Todo.query, pending: .discard)
            for device in devices { try await device.context.close() }
        }
    }
}

/// A store on which the first read of an error waits.
private final class WaitingStore: SyncContextDataSource {
    private let base: SQLiteStore
    private let wait: Mutex<(@Sendable () -> Void)?>

    init(_ base: SQLiteStore, wait: @escaping @Sendable () -> Void) {
        self.base = base
        self.wait = Mutex(wait)
    }

    var catalog: TableCatalog { base.catalog }
    var capabilities: StoreCapabilities { base.capabilities }

    func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
        if try base.read({ try !$0.operationErrors(in: nil).isEmpty }) {
            let wait = wait.withLock { wait in
                defer { wait = nil }
                return wait
            }
            wait?()
        }
        return try base.read(body)
    }

    func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T { try base.write(body) }
    func tryLockPush() throws -> (any StorePushLock)? { try base.tryLockPush() }
    func tryLockSync() throws -> (any StorePushLock)? { try base.tryLockSync() }
    func close() throws { try base.close() }
}
