// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import StoreSQLite
import SyncCore
import TableServer
import Testing

/// Two contexts on one store, and users that take turns.
@Suite struct SharedUserTests {
    /// Two processes on one file.
    private func run(
        softDelete: Bool = true,
        _ body: (Scenario, Device, Device, HeldAnswers) async throws -> Void
    ) async throws {
        try await Scenario.run(
            on: .sqlite, configure: { $0.tables = [.init(Todo.name, softDelete: softDelete)] }
        ) { scenario in
            let path = scenario.directory.appendingPathComponent("shared.sqlite").path
            let held = HeldAnswers()
            func device(_ name: String, _ transport: any HTTPTransport) throws -> Device {
                let store = try SQLiteStore(path: path, tables: [Todo.definition], sharing: .shared)
                var settings = SyncSettings()
                settings.retry.maxAttempts = 1
                let context = SyncContext(
                    client: SyncClient(url: scenario.server.url, transport: transport, installationID: name),
                    dataSource: store, settings: settings,
                    environment: .instant(seed: UInt64(name.utf8.count)))
                return Device(context: context, store: store)
            }
            let first = try device("A", URLSessionTransport())
            let second = try device("BB", held)
            try await body(scenario, first, second, held)
            try await first.context.close()
            try await second.context.close()
        }
    }

    @Test func `purgeAll does not discard an operation that another process is sending`() async throws {
        try await run { scenario, first, second, _ in
            try await first.table.insert(["id": "1", "text": "one"])
            let context = second.context
            _ = try await scenario.push(first) { _ in
                await expectError(.purgeRefused) { try await context.purgeAll(pending: .discard) }
            }
        }
    }

    /// The new row's version is one that this store's own pushes have replaced before.
    @Test func `a row inserted again with an old version is pulled although another process commits`()
        async throws
    {
        try await run(softDelete: false) { scenario, first, second, held in
            try await scenario.server.put("1", ["text": "one"], in: Todo.name)
            try await first.sync()
            try await first.table.update(id: "1", ["text": "two"])
            try await first.context.push()
            try await scenario.server.remove("1", in: Todo.name)
            try await scenario.server.put("1", ["text": "again"], in: Todo.name)
            // A later row, so that no later pull reads the instant of the first one again.
            let later = SyncEnvironment.live.now().advanced(by: .seconds(3))
            try await scenario.server.put("3", ["text": "later"], in: Todo.name, updatedAt: later)
            held.holdNext()
            let pull = Task { try await second.pullAnyway() }
            await held.waitForArrival()
            try await first.table.insert(["id": "2", "text": "other"])
            held.release()
            _ = try await pull.value
            #expect(try await second.texts() == ["again", "later", "other"])
        }
    }

    @Test func `calls are refused after the store was bound to another user`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            func context(_ user: String) -> SyncContext {
                SyncContext(client: SyncClient(url: scenario.server.url), dataSource: a.store, userID: user)
            }
            let (anna, bert) = (context("anna"), context("bert"))
            _ = try await anna.table(Todo.name).items()
            try await bert.purgeAll(pending: .discard)
            await expectError(.storeOfAnotherUser) {
                try await anna.table(Todo.name).insert(["text": "Anna's"])
            }
            await expectError(.storeOfAnotherUser) { try await anna.pull(Todo.query) }
        }
    }
}
