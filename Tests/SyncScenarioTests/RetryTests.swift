// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import Testing

/// Transient failures are retried, permanent failures are not, and some failures end the push.
@Suite struct RetryTests {
    /// Returns a device that records the delays before its retries.
    private func device(
        _ scenario: Scenario, settings: SyncSettings = SyncSettings(),
        refresh: (@Sendable () async throws -> String?)? = nil
    ) throws -> (device: Device, delays: Delays) {
        let delays = Delays()
        let device = try scenario.device(
            settings: settings, environment: { $0.sleep = { delays.record($0) } },
            refreshAuthentication: refresh)
        return (device, delays)
    }

    private final class Delays: Sendable {
        private let list = Mutex<[Duration]>([])
        var all: [Duration] { list.withLock { $0 } }
        func record(_ duration: Duration) { list.withLock { $0.append(duration) } }
    }

    @Test(arguments: StoreKind.allCases, [408, 425, 429, 500, 502, 503, 504])
    func `a transient status is retried in the same push`(
        _ kind: StoreKind, _ status: Int
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, delays) = try device(scenario)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(.refusal(status), .refusal(status))
            try await a.context.push()
            #expect(delays.all.count == 2)
            try await scenario.expectAgreement(a)
        }
    }

    /// Another context may have sent the operation since.
    @Test(arguments: [StoreKind.sqlite, .lmdb], [true, false])
    func `nothing is sent again after the context was closed`(_ kind: StoreKind, _ isPush: Bool) async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let context = Mutex<SyncContext?>(nil)
            let a = try scenario.device(environment: {
                $0.sleep = { _ in try await context.withLock { $0 }?.close() }
            })
            context.withLock { $0 = a.context }
            if isPush { try await a.table.insert(["id": "x", "text": "one"]) }
            scenario.server.inject(.refusal(500))
            await expectError(.contextInvalid) {
                if isPush { try await a.context.push() } else { try await a.context.pull(Todo.query) }
            }
            #expect(scenario.server.requests.count == 1)
            let reopened = try scenario.device()
            #expect(try await reopened.operations().map(\.itemID) == (isPush ? ["x"] : []))
            try await reopened.context.push()
            #expect(try scenario.serverTexts() == (isPush ? ["one"] : []))
        }
    }

    @Test(arguments: [StoreKind.sqlite, .lmdb], [true, false])
    func `nothing is sent with a new token that came after the context was closed`(
        _ kind: StoreKind, _ isPush: Bool
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let context = Mutex<SyncContext?>(nil)
            let a = try scenario.device(refreshAuthentication: {
                try await context.withLock { $0 }?.close()
                return "fresh"
            })
            context.withLock { $0 = a.context }
            if isPush { try await a.table.insert(["id": "x", "text": "one"]) }
            scenario.server.inject(.refusal(401))
            await expectError(.contextInvalid) {
                if isPush { try await a.context.push() } else { try await a.context.pull(Todo.query) }
            }
            #expect(scenario.server.requests.count == 1)
            let reopened = try scenario.device()
            #expect(try await reopened.operations().map(\.itemID) == (isPush ? ["x"] : []))
            try await reopened.context.push()
            #expect(try scenario.serverTexts() == (isPush ? ["one"] : []))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a token that cannot be refreshed now can be refreshed later, unless the user has to sign in`(
        _ kind: StoreKind
    ) async throws {
        let tokens = Mutex<[Result<String?, URLError>]>([
            .failure(URLError(.notConnectedToInternet)), .success(nil), .success("fresh"),
        ])
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(refreshAuthentication: {
                try tokens.withLock { $0.removeFirst() }.get()
            })
            try await a.table.insert(["id": "x"])
            for mayRetry in [true, false] {
                scenario.server.inject(.refusal(401))
                let error = await expectError(.pushAbortedAuthentication) { try await a.context.push() }
                #expect(error?.mayRetry == mayRetry)
                #expect(try await a.operations().map(\.itemID) == ["x"])
            }
            scenario.server.inject(.refusal(401))
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `retries are limited, and the push continues with other operations`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, delays) = try device(scenario)
            try await a.table.insert(["id": "x"])
            try await a.table.insert(["id": "y"])
            scenario.server.inject(.refusal(500), .refusal(500), .refusal(500))
            let error = try await a.expectPushError()
            #expect(error.itemID == "x")
            #expect(error.status == 500)
            #expect(delays.all.count == 2)
            #expect(try scenario.row("y") != nil)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `Retry-After is the minimum delay, and a value above the limit ends the push`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let (a, delays) = try device(scenario)
            try await a.table.insert(["id": "x"])
            scenario.server.inject(.answer(status: 429, headers: ["Retry-After": "7"]))
            try await a.context.push()
            #expect(delays.all == [.seconds(7)])
            for (number, value) in ["3601", "99999999999999999999"].enumerated() {
                try await a.table.update(id: "x", ["priority": .int(Int64(number))])
                scenario.server.inject(.answer(status: 503, headers: ["Retry-After": value]))
                let error = await expectError(.pushAbortedService) { try await a.context.push() }
                #expect(error?.retryAfter ?? .zero >= .seconds(3601))
                try await a.context.push()
            }
            #expect(delays.all.count == 1)
            for value in ["-1", "abc", "Sun, 06 Nov 1994 08:49:37 GMT"] {
                scenario.server.inject(.answer(status: 503, headers: ["Retry-After": value]))
                try await a.context.pull(Todo.query)
            }
            #expect(delays.all.count == 4)
            #expect(delays.all.dropFirst().allSatisfy { $0 < .seconds(1) })
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a permanent refusal is not retried and blocks no other operation`(_ kind: StoreKind)
        async throws
    {
        for status in [400, 403, 405, 413, 422] {
            try await Scenario.run(on: kind) { scenario in
                let (a, delays) = try device(scenario)
                try await a.table.insert(["id": "x"])
                try await a.table.insert(["id": "y"])
                scenario.server.inject(.refusal(status, "because"))
                let error = try await a.expectPushError()
                #expect(error.message == "because")
                #expect(error.status == status)
                #expect(delays.all.isEmpty)
                #expect(try scenario.row("y") != nil)
                try await a.pullWithoutPush()
                try await a.sync()
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `no network ends the push at once and keeps the queue`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, _) = try device(scenario)
            for id in ["x", "y", "z"] { try await a.table.insert(["id": .text(id)]) }
            scenario.server.inject(.refusal(400))
            scenario.server.onRequest { _ in .dropRequest }
            let error = await expectError(.pushAbortedNetwork) { try await a.context.push() }
            #expect(error?.mayRetry == true)
            #expect(error?.pushResult?.errors.map(\.itemID) == ["x"])
            #expect(try await a.operations().count == 3)
            #expect(Set(scenario.server.requests.map { String(decoding: $0.body, as: UTF8.self) }).count == 2)
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `after a 401 the request is retried once with a new token`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, _) = try device(scenario, refresh: { "fresh" })
            try await a.table.insert(["id": "x"])
            scenario.server.inject(.refusal(401))
            try await a.context.push()
            #expect(scenario.server.requests.map { $0.header("X-ZUMO-AUTH") } == [nil, "fresh"])
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `401 without a new token ends the push and keeps the queue`(_ kind: StoreKind) async throws {
        struct NoToken: Error {}
        let refreshes: [(@Sendable () async throws -> String?)?] = [
            nil, { nil }, { throw NoToken() }, { "stale" },
        ]
        for refresh in refreshes {
            try await Scenario.run(on: kind) { scenario in
                let (a, _) = try device(scenario, refresh: refresh)
                try await a.table.insert(["id": "x"])
                try await a.table.insert(["id": "y"])
                scenario.server.onRequest { _ in .refusal(401) }
                await expectError(.pushAbortedAuthentication) { try await a.context.push() }
                #expect(scenario.server.requests.count <= 2)
                #expect(try await a.operations().count == 2)
                scenario.server.onRequest(nil)
                try await a.sync()
                try await scenario.expectAgreement(a)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation refused repeatedly is parked, reported, and sent after replay`(
        _ kind: StoreKind
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.parkAfterRefusals = 3
            let a = try scenario.crashableDevice(settings: settings)
            try await a.table.insert(["id": "x", "text": "poison"])
            try await a.table.insert(["id": "y", "text": "fine"])
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison") ? .refusal(400) : .none
            }
            for _ in 0..<3 { _ = await a.expectPushErrors() }
            try await a.pullWithoutPush()
            #expect(try await a.operations().map(\.state) == [.parked])
            let restarted = try scenario.restart(a, settings: settings)
            #expect(try await restarted.context.operationErrors().map(\.itemID) == ["x"])
            scenario.server.removeRequests()
            #expect(try await restarted.expectPushError().itemID == "x")
            #expect(scenario.writes().isEmpty)
            scenario.server.onRequest(nil)
            let parked = try #require(try await restarted.operations().first)
            try await restarted.context.replay(operationID: parked.id)
            try await restarted.sync()
            try await scenario.expectAgreement(restarted)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `all parked operations, or those of a table, are replayed together`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 1
            let other = SyncTableDefinition("Other", columns: [SyncColumn("text", .text)])
            let a = try scenario.device(settings: settings, tables: [Todo.definition, other])
            for id in ["x", "y"] { try await a.table.insert(["id": .text(id)]) }
            try await a.context.table("Other").insert(["id": "o"])
            scenario.server.onRequest { $0.isWrite ? .refusal(400) : .none }
            _ = await a.expectPushErrors()
            scenario.server.onRequest(nil)
            #expect(try await a.context.replayParkedOperations(in: "Other") == 1)
            #expect(await a.expectPushErrors().map(\.itemID) == ["x", "y"])
            #expect(try scenario.server.row("o", in: "Other") != nil)
            #expect(try await a.context.replayParkedOperations() == 2)
            try await a.context.push()
            #expect(try await a.context.replayParkedOperations() == 0)
            try await scenario.expectAgreement(a)
        }
    }

    /// The device's clock is an hour ahead of the server's.
    @Test(arguments: StoreKind.allCases)
    func `a date in Retry-After is relative to the date of the response`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            let (a, delays) = try device(scenario)
            try await a.table.insert(["id": "x"])
            let server = SyncEnvironment.live.now().advanced(by: .seconds(-3600))
            let headers = [
                "Date": server.httpDate, "Retry-After": server.advanced(by: .seconds(30)).httpDate,
            ]
            scenario.server.inject(.answer(status: 503, headers: headers))
            try await a.context.push()
            #expect(delays.all == [.seconds(30)])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit of the item unparks its operation`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.parkAfterRefusals = 1
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "poison"])
            scenario.server.inject(.refusal(400))
            _ = await a.expectPushErrors()
            #expect(try await a.operations().map(\.state) == [.parked])
            try await a.table.update(id: "x", ["text": "fine"])
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a long outage parks no operation, and the queue drains afterwards`(
        _ kind: StoreKind
    ) async throws {
        let outages: [ServerFault] = [
            .dropRequest, .refusal(503), .refusal(502), .refusal(429), .refusal(401),
        ]
        for outage in outages {
            try await Scenario.run(on: kind) { scenario in
                var settings = SyncSettings.singleAttempt
                settings.parkAfterRefusals = 3
                let (a, _) = try device(scenario, settings: settings)
                for id in ["x", "y"] { try await a.table.insert(["id": .text(id)]) }
                scenario.server.onRequest { _ in outage }
                for _ in 0..<6 { _ = try? await a.context.push() }
                #expect(try await a.operations().filter { $0.state == .parked }.isEmpty)
                scenario.server.onRequest(nil)
                try await a.sync()
                try await scenario.expectAgreement(a)
            }
        }
    }
}
