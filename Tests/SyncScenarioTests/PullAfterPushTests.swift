// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Failures of the push before a pull, and of later pages of a pull.
@Suite struct PullAfterPushTests {
    /// Runs the body with a pending operation of another table, which the tests refuse.
    private func withRefusedOperation(
        on kind: StoreKind, _ body: (Scenario, Device) async throws -> Void
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(
                tables: [Todo.definition, SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])])
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.context.table("Other").insert(["id": "o", "text": "refused"])
            try await body(scenario, a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a pull continues after a refused operation, and its result contains the error`(
        _ kind: StoreKind
    ) async throws {
        try await withRefusedOperation(on: kind) { scenario, a in
            scenario.server.onRequest { $0.isWrite ? .refusal(400) : .none }
            for _ in 0..<3 {
                let result = try await a.context.pull(Todo.query, queryID: "all")
                #expect(result.pushErrors.map(\.itemID) == ["o"])
            }
            #expect(try await a.texts() == ["theirs"])
            #expect(try await a.context.status().lastError?.code == .pushCompletedWithErrors)
            scenario.server.onRequest(nil)
            let result = try await a.context.pull(Todo.query, queryID: "all")
            #expect(result.pushErrors.isEmpty)
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a push that ends early ends the pull with its error`(_ kind: StoreKind) async throws {
        try await withRefusedOperation(on: kind) { scenario, a in
            for (fault, code) in [
                (ServerFault.dropRequest, SyncError.Code.pushAbortedNetwork),
                (.refusal(401), .pushAbortedAuthentication),
            ] {
                scenario.server.removeRequests()
                scenario.server.onRequest { $0.isWrite ? fault : .none }
                await expectError(code) { try await a.context.pull(Todo.query, queryID: "all") }
                #expect(scenario.server.requests.filter(\.isPage).isEmpty)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `the conflicts of a stored page are resolved although the next page fails`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let calls = Mutex(0)
            var settings = SyncSettings()
            settings.resolver = ConflictResolver { _ in
                calls.withLock { $0 += 1 }
                return .keepServer
            }
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "ours"])
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            let pages = Mutex(0)
            scenario.server.onRequest { request in
                guard request.isPage else { return .none }
                let page = pages.withLock { pages in
                    pages += 1
                    return pages
                }
                return page == 1 ? .none : .refusal(403)
            }
            await expectError(.pullAborted) { try await a.pullWithoutPush() }
            #expect(calls.withLock { $0 } == 1)
            #expect(try await a.texts() == ["theirs"])
            #expect(try await a.operations().isEmpty)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func
        `a page over the size limit is requested in halves, and a row over the limit is listed as unreadable`(
            _ kind: StoreKind
        ) async throws
    {
        try await Scenario.run(on: kind, configure: { $0.maxBodySize = 1 << 20 }) { scenario in
            for number in 0..<20 {
                let length = number == 7 ? 9000 : 500
                try await scenario.server.put(
                    "row-\(number)", ["text": .text(String(repeating: "x", count: length))], in: Todo.name)
            }
            scenario.server.clock.advance(by: .seconds(10))
            let a = try scenario.device(transport: URLSessionTransport(maxBodyBytes: 3000))
            for queryID in ["all", nil] {
                let result = try await a.context.pull(Todo.query, queryID: queryID)
                #expect(try await a.table.items().count == 19)
                #expect(result.unreadable.map(\.id) == ["row-7"])
                #expect(result.unreadable.first?.reason.contains("3000 bytes") == true)
                try await a.context.purge(Todo.query)
            }
            var strict = PullSettings()
            strict.onUnreadableRow = .fail
            let error = await expectError(.pullAborted) {
                try await a.context.pull(Todo.query, settings: strict)
            }
            #expect(error?.message.contains("3000 bytes") == true)
        }
    }

    @Test func `a row is not taken for the long one that was in its place a moment before`() async throws {
        try await Scenario.run(on: .memory, configure: { $0.maxBodySize = 1 << 20 }) { scenario in
            for number in 0..<4 {
                let text = String(repeating: "x", count: number == 1 ? 9000 : 500)
                try await scenario.server.put("row-\(number)", ["text": .text(text)], in: Todo.name)
                scenario.server.clock.advance(by: .seconds(10))
            }
            let a = try scenario.device(transport: URLSessionTransport(maxBodyBytes: 3000))
            scenario.server.onRequest { request in
                // When its id is requested, the long row moves to the end.
                guard request.parameter("$select") != nil,
                    (try? scenario.row("row-1")?.fields["priority"]) != 1
                else { return .none }
                _ = try? await scenario.server.update("row-1", ["priority": 1], in: Todo.name)
                return .none
            }
            let result = try await a.context.pull(Todo.query, queryID: "all")
            #expect(result.unreadable.map(\.id) == ["row-1"])
            #expect(try await a.table.items().map(\.id).sorted() == ["row-0", "row-2", "row-3"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that was inserted again is stored although the server's clock has stepped back`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind, configure: { $0.clock = .standing(at: .unixEpoch) }) { scenario in
            let (server, a) = (scenario.server, try scenario.device())
            try await a.table.insert(["id": "x", "text": "one"])
            for text in ["two", "three"] {
                try await a.context.push()
                server.clock.advance(by: .seconds(10))
                try await a.table.update(id: "x", ["text": .text(text)])
            }
            try await a.context.push()
            server.clock.advance(by: .seconds(10))
            try await server.remove("x", in: Todo.name, leavingTombstone: false)
            try await server.put("x", ["text": "theirs"], in: Todo.name)
            // The row has a version that a push of the device has replaced, and an earlier `updatedAt`.
            try await server.update(
                "x", ["text": "theirs, changed"], in: Todo.name, updatedAt: Timestamp(seconds: 15))
            try await a.context.pull(Todo.query, settings: .withoutPush)
            #expect(try await a.texts() == ["theirs, changed"])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a row that was inserted again at an earlier time of the server's clock is stored`(
        _ kind: StoreKind
    ) async throws {
        func standStill(_ configuration: inout TableServer.Configuration) {
            (configuration.clock, configuration.restartsVersions) = (.standing(at: .unixEpoch), true)
        }
        try await Scenario.run(on: kind, configure: standStill) { scenario in
            let (server, a) = (scenario.server, try scenario.device())
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            server.clock.advance(by: .seconds(10))
            try await a.table.update(id: "x", ["text": "two"])
            try await a.context.push()
            try await server.remove("x", in: Todo.name, leavingTombstone: false)
            let earlier = Timestamp.unixEpoch.advanced(by: .seconds(-60))
            try await server.put("x", ["text": "theirs"], in: Todo.name, updatedAt: earlier)
            try await a.context.pull(Todo.query, settings: .withoutPush)
            #expect(try await a.texts() == ["theirs"])
            try await scenario.expectAgreement(a)
        }
    }
}
