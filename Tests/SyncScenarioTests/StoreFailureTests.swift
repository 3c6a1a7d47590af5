// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// A store that fails one call: no write is partial, and sync continues afterwards.
@Suite struct StoreFailureTests {
    /// A store that fails some calls: a read before its body, or a write before its commit.
    private final class FailingStore: SyncContextDataSource {
        let base: any SyncContextDataSource
        private let remaining = Mutex<Int?>(nil)
        /// How many calls fail.
        private let failures: Int

        init(_ base: any SyncContextDataSource, failures: Int) {
            (self.base, self.failures) = (base, failures)
        }

        var catalog: TableCatalog { base.catalog }
        var capabilities: StoreCapabilities { base.capabilities }

        /// Fails the calls after that many calls; `nil` fails none.
        func fail(after count: Int?) { remaining.withLock { $0 = count } }

        /// Whether the first call to fail has been made.
        var hasFailed: Bool { remaining.withLock { $0.map { $0 < 0 } ?? false } }

        func read<T>(_ body: (any StoreSnapshot) throws -> T) throws -> T {
            if shouldFail() { throw StoreError(.inputOutput, "The disk does not respond.") }
            return try base.read(body)
        }

        func write<T>(_ body: (any StoreTransaction) throws -> T) throws -> T {
            let fails = shouldFail()
            return try base.write { transaction in
                let result = try body(transaction)
                if fails { throw StoreError(.full, "The disk is full.") }
                return result
            }
        }

        func close() throws { try base.close() }

        private func shouldFail() -> Bool {
            remaining.withLock { remaining in
                guard let count = remaining, count > -failures else { return false }
                remaining = count - 1
                return count <= 0
            }
        }
    }

    /// Runs the call repeatedly: in run n the nth call to the store fails, until a run needs fewer calls.
    ///
    /// Each run has a new device and store, which `prepare` sets up.
    private func atEveryStoreCall(
        on kind: StoreKind, failing failures: Int = 1,
        delegate: (@Sendable (Scenario) -> ClosureDelegate)? = nil,
        prepare: (Scenario, Device) async throws -> Void,
        _ call: (Scenario, Device) async throws -> Void,
        then check: (Scenario, Device, Result<Void, any Error>) async throws -> Void = { _, _, _ in }
    ) async throws {
        var count = 0
        var hasFailed = true
        while hasFailed {
            try await Scenario.run(on: kind) { scenario in
                let store = FailingStore(
                    try kind.open(in: scenario.directory, name: "F", tables: [Todo.definition]),
                    failures: failures)
                let device = scenario.device(on: store, delegate: delegate?(scenario))
                let context = device.context
                try await prepare(scenario, device)
                store.fail(after: count)
                var result = Result<Void, any Error>.success(())
                do { try await call(scenario, device) } catch { result = .failure(error) }
                hasFailed = store.hasFailed
                store.fail(after: nil)
                try await check(scenario, device, result)
                for error in try await context.operationErrors() {
                    try await context.cancelAndDiscardItem(for: error)
                }
                try await device.sync()
                try await scenario.expectAgreement(device)
            }
            count += 1
        }
        // The call must reach the store.
        #expect(count > 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `a local write that fails stores neither item nor operation`(_ kind: StoreKind) async throws {
        let writes: [(Device) async throws -> Void] = [
            { try await $0.table.insert(["id": "new", "text": "new"]) },
            { try await $0.table.update(id: "x", ["text": "two"]) },
            { try await $0.table.delete(id: "x") },
        ]
        for write in writes {
            try await atEveryStoreCall(
                on: kind,
                prepare: { scenario, device in
                    try await scenario.server.put("x", ["text": "one"], in: Todo.name)
                    try await device.sync()
                },
                { _, device in try await write(device) },
                then: { _, device, result in
                    let operations = try await device.operations()
                    let isUnchanged = try await device.texts() == ["one"]
                    switch result {
                    case .success:
                        #expect(operations.count == 1)
                        #expect(!isUnchanged)
                    case .failure(let error):
                        #expect((error as? SyncError)?.code == .storeFailure)
                        #expect(operations.isEmpty)
                        #expect(isUnchanged)
                    }
                })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a push whose store fails at any call ends with the store's error, and every operation is applied once`(
            _ kind: StoreKind
        ) async throws
    {
        try await atEveryStoreCall(
            on: kind,
            prepare: { scenario, device in
                for id in ["u", "d"] { try await scenario.server.put(id, ["text": "one"], in: Todo.name) }
                try await device.sync()
                try await device.table.insert(["id": "i", "text": "new"])
                try await device.table.update(id: "u", ["text": "two"])
                try await device.table.delete(id: "d")
            },
            { _, device in try await device.context.push() },
            then: { scenario, device, result in
                if case .failure(let error) = result {
                    #expect((error as? SyncError)?.code == .pushAbortedStore)
                }
                try await device.context.push()
                #expect(try scenario.row("i")?.version == "MQ==")
                #expect(try scenario.row("u")?.version == "Mg==")
                #expect(try scenario.row("d")?.deleted == true)
            })
    }

    @Test(arguments: StoreKind.allCases, [false, true])
    func `a store that fails beside a delegate ends the push with the store's error`(
        _ kind: StoreKind, _ executes: Bool
    ) async throws {
        try await atEveryStoreCall(
            on: kind,
            delegate: { scenario in
                ClosureDelegate(perform: { _, operation in
                    var item = operation.item
                    if executes {
                        item = try await operation.execute()
                    } else if try scenario.row(operation.operation.itemID) == nil {
                        try await scenario.server.put(
                            operation.operation.itemID, ["text": "new"], in: Todo.name)
                    }
                    item?["text"] = "changed"
                    return item
                })
            },
            prepare: { _, device in
                for id in ["a", "b"] { try await device.table.insert(["id": .text(id), "text": "new"]) }
            },
            { _, device in try await device.context.push() },
            then: { _, device, result in
                guard case .failure(let error) = result else { return }
                #expect((error as? SyncError)?.code == .pushAbortedStore)
                let errors = try await device.context.operationErrors()
                #expect(errors.isEmpty)
            })
    }

    /// Returns a delegate that inserts the row `x` by its own request.
    ///
    /// - Parameter deletes: whether the user deletes the item meanwhile.
    private static func delegateInsertingItself(
        _ scenario: Scenario, whileDeleting deletes: Bool = false
    ) -> ClosureDelegate {
        ClosureDelegate(perform: { context, operation in
            guard operation.operation.kind == .insert else { return try await operation.execute() }
            if try scenario.row("x") == nil {
                try await scenario.server.put("x", ["text": "new"], in: Todo.name)
                if deletes { try await context.table(Todo.name).delete(id: "x") }
            }
            return try await context.client.table(Todo.name).read(id: "x")
        })
    }

    @Test(arguments: StoreKind.allCases, [1, 2])
    func `an item deleted after a delegate's insert that could not be stored is deleted on the server`(
        _ kind: StoreKind, _ failures: Int
    ) async throws {
        try await atEveryStoreCall(
            on: kind, failing: failures,
            delegate: { Self.delegateInsertingItself($0) },
            prepare: { _, device in try await device.table.insert(["id": "x", "text": "new"]) },
            { _, device in try await device.context.push() },
            then: { scenario, device, _ in
                try await device.table.delete(id: "x")
                try await device.context.push()
                #expect(try scenario.serverTexts().isEmpty)
            })
    }

    @Test(arguments: StoreKind.allCases, [1, 2])
    func
        `an item deleted during the delegate's own insert is deleted on the server, although the store fails`(
            _ kind: StoreKind, _ failures: Int
        ) async throws
    {
        try await atEveryStoreCall(
            on: kind, failing: failures,
            delegate: { Self.delegateInsertingItself($0, whileDeleting: true) },
            prepare: { _, device in try await device.table.insert(["id": "x", "text": "new"]) },
            { _, device in try await device.context.push() },
            then: { scenario, device, _ in
                let isDeleted = try await device.item("x") == nil
                try await device.context.push()
                if isDeleted { #expect(try scenario.serverTexts().isEmpty) }
            })
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull whose store fails at any call stores the delta token together with its rows`(
        _ kind: StoreKind
    ) async throws {
        try await atEveryStoreCall(
            on: kind,
            prepare: { scenario, _ in
                try await scenario.putRows(8)
                scenario.server.clock.advance(by: .seconds(10))
            },
            { _, device in
                try await device.context.pull(Todo.query, queryID: "all", settings: .pages(of: 3))
            },
            then: { _, device, _ in
                let newest = try await device.table.items().compactMap(\.system.updatedAt).max()
                #expect(try await device.context.deltaTokens(of: Todo.name)["all"] == newest?.description)
            })
    }

    @Test(arguments: StoreKind.allCases)
    func `resolutions and purges are atomic when the store fails`(_ kind: StoreKind) async throws {
        let errors = Mutex<[TableOperationError]>([])
        func prepare(_ scenario: Scenario, _ device: Device) async throws {
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await device.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await device.table.update(id: "x", ["text": "ours"])
            let failed = await device.expectPushErrors()
            errors.withLock { $0 = failed }
        }
        let calls: [(Device, TableOperationError) async throws -> Void] = [
            { try await $0.context.cancelAndDiscardItem(for: $1) },
            { try await $0.context.cancelAndUpdateItem(for: $1, with: $1.serverItem ?? Item(id: "?")) },
            {
                try await $0.context.keepAndUpdateItem(for: $1, with: Item(id: "x", fields: ["text": "both"]))
            },
            { try await $0.context.changeKind(for: $1, to: .delete) },
            { device, _ in try await device.context.purge(Todo.query, pending: .discard) },
        ]
        for call in calls {
            try await atEveryStoreCall(
                on: kind, prepare: prepare,
                { _, device in
                    for error in errors.withLock({ $0 }) { try await call(device, error) }
                },
                then: { _, device, result in
                    guard case .failure = result else { return }
                    let (texts, expected) = (try await device.texts(), errors.withLock { $0 })
                    #expect(texts == ["ours"])
                    #expect(try await device.operations().count == 1)
                    #expect(try await device.context.operationErrors() == expected)
                    #expect(try await device.context.deltaTokens(of: Todo.name).count == 1)
                })
        }
    }
}
