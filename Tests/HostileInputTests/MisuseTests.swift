// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import SyncCore
import TestSupport
import Testing

/// Settings out of range and calls at the wrong moment: a typed error or a defined result, never a crash or a lost change.
@Suite struct MisuseTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let apply: @Sendable (inout SyncSettings) -> Void

        init(_ name: String, _ apply: @escaping @Sendable (inout SyncSettings) -> Void) {
            testDescription = name
            self.apply = apply
        }
    }

    static let settings: [Change] = [
        Change("maxConcurrentOperations 0") { $0.maxConcurrentOperations = 0 },
        Change("maxConcurrentOperations -1") { $0.maxConcurrentOperations = -1 },
        Change("maxConcurrentOperations min") { $0.maxConcurrentOperations = .min },
        Change("maxConcurrentOperations max") { $0.maxConcurrentOperations = .max },
        Change("maxAttempts 0") { $0.retry.maxAttempts = 0 },
        Change("maxAttempts -1") { $0.retry.maxAttempts = -1 },
        Change("maxAttempts min") { $0.retry.maxAttempts = .min },
        Change("maxAttempts max") { $0.retry.maxAttempts = .max },
        Change("initialDelay -1") { $0.retry.initialDelay = .seconds(-1) },
        Change("initialDelay max") { $0.retry.initialDelay = .seconds(Int64.max) },
        Change("initialDelay min") { $0.retry.initialDelay = .seconds(Int64.min) },
        Change("maxDelay -1") { $0.retry.maxDelay = .seconds(-1) },
        Change("maxDelay max") {
            $0.retry.maxDelay = .seconds(Int64.max)
            $0.retry.initialDelay = .seconds(Int64.max)
        },
        Change("maxRetryAfter -1") { $0.retry.maxRetryAfter = .seconds(-1) },
        Change("maxRetryAfter max") { $0.retry.maxRetryAfter = .seconds(Int64.max) },
        Change("parkAfterRefusals 0") { $0.parkAfterRefusals = 0 },
        Change("parkAfterRefusals -1") { $0.parkAfterRefusals = -1 },
        Change("parkAfterRefusals max") { $0.parkAfterRefusals = .max },
        Change("maxResolutions 0") { $0.maxResolutions = 0 },
        Change("maxResolutions -1") { $0.maxResolutions = -1 },
        Change("resolver of another table") { $0.resolvers["nosuch"] = .clientWins },
    ]

    @Test(arguments: settings)
    func `no settings lose a change during failures`(change: Change) async throws {
        var settings = SyncSettings()
        change.apply(&settings)
        try await Client.run(settings: settings) { client in
            for id in ["a", "b", "c"] { try await client.table.insert(["id": .text(id), "text": "one"]) }
            for status in [503, 500, 400, 429, 409] {
                client.server.respondToWrites(.init(status, headers: [.retryAfter: "1"], #"{"error":"no"}"#))
                _ = try? await client.context.push()
                #expect(try await client.table.items().count == 3)
                #expect(try await client.context.pendingOperationCount() == 3)
            }
            client.server.respond(nil)
            for operation in try await client.context.pendingOperations() {
                try await client.context.replay(operationID: operation.id)
            }
            try await client.expectHealthySync()
        }
    }

    @Test(
        arguments: [
            (0, .zero, .invalidParameter), (-1, .zero, .invalidParameter), (1001, .zero, .invalidParameter),
            (.max, .zero, .invalidParameter), (.min, .zero, .invalidParameter), (1, .zero, nil),
            (1000, .zero, nil),
            (50, .nanoseconds(-1), .invalidParameter), (50, .seconds(Int64.min), .invalidParameter),
            (50, .nanoseconds(1), nil), (50, .seconds(100_000_000_000), nil), (50, .seconds(Int64.max), nil),
        ] as [(Int, Duration, SyncError.Code?)])
    func `the settings of a pull are refused, or every row is pulled`(
        pageSize: Int, overlap: Duration, expected: SyncError.Code?
    ) async throws {
        for strategy in PullStrategy.allCases {
            try await Client.run { client in
                for id in ["a", "b", "c"] { try await client.table.insert(["id": .text(id)]) }
                try await client.context.push()
                try await client.context.purge(Thing.query)
                var settings = PullSettings()
                (settings.pageSize, settings.overlap, settings.strategy) = (pageSize, overlap, strategy)
                for _ in 0..<2 {
                    #expect(try await code { try await client.pull(settings) } == expected)
                    #expect(try await client.table.items().count == (expected == nil ? 3 : 0))
                }
            }
        }
    }

    @Test(
        arguments: [
            (0, 0), (-1, 0), (.min, 0), (1, 1), (2, 2), (.max, 3),
        ] as [(Int, Int)])
    func `a budget sends no more operations than it permits`(maxOperations: Int, sent: Int) async throws {
        try await Client.run { client in
            for id in ["a", "b", "c"] { try await client.table.insert(["id": .text(id)]) }
            try await client.context.push(budget: PushBudget(operations: maxOperations))
            #expect(client.server.rows().count == sent)
            #expect(try await client.context.pendingOperationCount() == 3 - sent)
            try await client.expectHealthySync()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `two thousand concurrent calls each succeed or throw a typed error`(_ kind: StoreKind) async throws {
        try await Client.run(on: kind) { client in
            let table = client.table
            let context = client.context
            let accepted = await withTaskGroup(of: String?.self) { group in
                for number in 0..<2000 {
                    group.addTask {
                        let id = "\(number % 400)"
                        switch number % 10 {
                        case 8: _ = try? await context.push()
                        case 9: _ = try? await context.pull(Thing.query, queryID: "all")
                        default: return try? await table.insert(["id": .text(id), "text": "x"]).id
                        }
                        return nil
                    }
                }
                return await group.reduce(into: [String]()) { ids, id in if let id { ids.append(id) } }
            }
            // Each id was inserted exactly once.
            #expect(Set(accepted).count == accepted.count)
            try await client.expectHealthySync()
            #expect(Set(client.server.rows().keys) == Set(accepted.map(UTF8Text.init)))
        }
    }

    @Test(arguments: StoreKind.persistent)
    func `a context that closes during calls keeps every change that a call returned`(_ kind: StoreKind)
        async throws
    {
        try await withTemporaryDirectory { directory in
            let path = directory.appending(path: "store").path
            let server = try HostileServer()
            let store = try kind.open(at: path)
            let context = SyncContext(
                client: SyncClient(url: HostileServer.url, transport: server), dataSource: store,
                environment: .instant)
            let (inserts, hasInserted) = AsyncStream.makeStream(of: Void.self)
            let returned = await withTaskGroup(of: String?.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        if number == 100 {
                            for await _ in inserts { break }
                            try? await context.close()
                        }
                        if number % 20 == 0 { _ = try? await context.push() }
                        let item = try? await context.table(Thing.name).insert(["text": "x"])
                        hasInserted.yield()
                        return item?.id
                    }
                }
                return await group.reduce(into: Set<String>()) { ids, id in if let id { ids.insert(id) } }
            }
            try await context.close()
            #expect(!returned.isEmpty)
            let reopened = try kind.open(at: path)
            let items = try reopened.read { try $0.items(matching: Thing.query).items.map(\.id) }
            let pending = try reopened.read {
                try $0.operations(after: 0, in: nil, limit: .max).map(\.itemID)
            }
            #expect(Set(items).isSuperset(of: returned))
            let synced = Set(server.rows().keys.map(\.text))
            #expect(Set(pending).union(synced).isSuperset(of: returned))
            try reopened.close()
        }
    }
}
