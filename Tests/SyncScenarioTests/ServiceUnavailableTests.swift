// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Responses that say nothing about an operation end the push and count as attempts of no operation. The queue drains
/// when the service is available again.
@Suite struct ServiceUnavailableTests {
    /// A response that does not come from the tables service.
    struct Outage: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: ServerFault
        var code = SyncError.Code.pushAbortedService
        /// Whether only this request may have no answer of the service. Others are tried then, from the third push on.
        var isWithoutAnswer = false
        /// Whether the response confirms a delete.
        var confirmsDeletes = false
        var testDescription: String { name }
    }

    static let html = Data("<!DOCTYPE html><html><body>Please sign in</body></html>".utf8)

    static let outages: [Outage] =
        [
            Outage(
                name: "portal 200",
                fault: .answer(status: 200, headers: ["Content-Type": "text/html"], body: html),
                isWithoutAnswer: true),
            Outage(
                name: "portal 200 without a type", fault: .answer(status: 200, body: html),
                isWithoutAnswer: true),
            Outage(
                name: "portal 302", fault: .answer(status: 302, headers: ["Location": "http://portal.test/"]),
                isWithoutAnswer: true),
            Outage(
                name: "empty 200", fault: .answer(status: 200), isWithoutAnswer: true, confirmsDeletes: true),
            Outage(name: "empty 403", fault: .answer(status: 403)),
            Outage(name: "empty 500", fault: .answer(status: 500)),
            Outage(name: "site stopped", fault: .answer(status: 403, body: html)),
            Outage(name: "page 404", fault: .answer(status: 404, body: html)),
            Outage(name: "page 409", fault: .answer(status: 409, body: html)),
            Outage(name: "no network", fault: .dropRequest, code: .pushAbortedNetwork, isWithoutAnswer: true),
            Outage(name: "401", fault: .refusal(401), code: .pushAbortedAuthentication),
        ]
        + [407, 408, 425, 429, 502, 503, 504, 511, 520, 521, 530].map {
            Outage(
                name: "\($0)", fault: .refusal($0), isWithoutAnswer: ![407, 425, 429, 511].contains($0))
        }

    @Test(arguments: StoreKind.allCases, outages)
    func `an outage parks no operation, and the next push sends all`(
        _ kind: StoreKind, _ outage: Outage
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 3
            let a = try scenario.device(settings: settings)
            try await scenario.server.put("old", ["text": "old"], in: Todo.name)
            try await scenario.server.put("gone", ["text": "gone"], in: Todo.name)
            try await a.sync()
            try await a.table.insert(["id": "x", "text": "new"])
            try await a.table.update(id: "old", ["text": "edited"])
            try await a.table.delete(id: "gone")
            scenario.server.onRequest { _ in outage.fault }
            scenario.server.removeRequests()
            // The fifth push would send the delete.
            let pushCount = outage.confirmsDeletes ? 4 : 5
            for count in 1...pushCount {
                let error = await expectError(outage.code) { try await a.context.push() }
                #expect(error?.mayRetry == (outage.code != .pushAbortedAuthentication))
                #expect(error?.pushResult?.errors.isEmpty == true)
                // A push ends after its first request; later ones may try whether the server answers another operation.
                if count < 3 { #expect(scenario.server.requests.count == count) }
            }
            // With others: 1, 1, 2, 2 and 3 requests.
            let requestCount = outage.isWithoutAnswer ? (outage.confirmsDeletes ? 6 : 9) : 5
            #expect(scenario.server.requests.count == requestCount)
            let operations = try await a.operations()
            #expect(operations.count == 3)
            #expect(operations.allSatisfy { $0.state != .parked && $0.refusals == 0 })
            #expect(try await a.context.status().lastError?.code == outage.code)
            scenario.server.onRequest(nil)
            #expect(try await a.context.push().completed == 3)
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `after Retry-After the push does not send the next operation`(_ kind: StoreKind) async throws {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.retry.maxAttempts = 3
            let a = try scenario.device(settings: settings)
            for index in 0..<50 { try await a.table.insert(["id": .text("item-\(index)")]) }
            scenario.server.onRequest { _ in .answer(status: 503, headers: ["Retry-After": "60"]) }
            let error = await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(error?.retryAfter == .seconds(60))
            #expect(scenario.server.requests.count == 3)
            scenario.server.onRequest(nil)
            #expect(try await a.context.push().completed == 50)
        }
    }

    /// Returns a device that has inserted two items; the service gives the requests of the first one the answer.
    private func deviceWithPoison(_ scenario: Scenario, answer: ServerFault) async throws -> Device {
        let a = try scenario.device(settings: .singleAttempt)
        try await a.table.insert(["id": "1", "text": "poison"])
        try await a.table.insert(["id": "2", "text": "healthy"])
        scenario.server.onRequest { request in
            String(decoding: request.body, as: UTF8.self).contains("poison") ? answer : .none
        }
        return a
    }

    /// The wait is about the user, and not about the request.
    @Test(arguments: StoreKind.allCases)
    func `a rate limit keeps its Retry-After at an operation that alone had no answer`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try await deviceWithPoison(scenario, answer: .answer(status: 503))
            for _ in 1...4 { _ = try? await a.context.push() }
            #expect(try scenario.row("2") != nil)
            scenario.server.onRequest { _ in .answer(status: 429, headers: ["Retry-After": "600"]) }
            let error = await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(error?.retryAfter == .seconds(600))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `an operation for which the service asks to wait does not block the queue`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            let a = try await deviceWithPoison(
                scenario, answer: .answer(status: 503, headers: ["Retry-After": "5"]))
            for count in 1...3 {
                let error = await expectError(.pushAbortedService) { try await a.context.push() }
                #expect(error?.retryAfter == .seconds(5))
                #expect(scenario.server.requests.count == count)
            }
            scenario.server.removeRequests()
            await expectError(.pushAbortedService) { try await a.context.push() }
            let sent = scenario.writes().map { String(decoding: $0.body, as: UTF8.self).contains("poison") }
            #expect(sent == [false, true])
            #expect(try await a.operations().map(\.itemID) == ["1"])
            #expect(try scenario.row("2") != nil)
            // Only this operation gets the answer: pulls do not wait for it.
            try await scenario.server.put("theirs", ["text": "theirs"], in: Todo.name)
            await expectError(.pushAbortedService) { try await a.context.pull(Todo.query, queryID: "all") }
            #expect(try await a.item("theirs") != nil)
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    /// A firewall answers some texts with a page, or redirects them.
    @Test(
        arguments: StoreKind.allCases,
        [ServerFault.webPage(200), .answer(status: 302, headers: ["Location": "http://portal.test/"])])
    func `an operation that a firewall answers does not block the queue or pulls`(
        _ kind: StoreKind, _ fault: ServerFault
    ) async throws {
        try await Scenario.run(on: kind) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "1", "text": "poison"])
            try await a.table.insert(["id": "2", "text": "healthy"])
            try await scenario.server.put("z", ["text": "theirs"], in: Todo.name)
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison") ? fault : .none
            }
            for _ in 0..<3 {
                #expect(try scenario.row("2") == nil)
                await expectError(.pushAbortedService) { try await a.context.push() }
            }
            #expect(try scenario.row("2") != nil)
            await expectError(.pushAbortedService) { try await a.context.pull(Todo.query, queryID: "all") }
            #expect(try await a.texts() == ["healthy", "poison", "theirs"])
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `pushes without network or authentication do not count as attempts`(
        _ kind: StoreKind
    ) async throws {
        for fault in [ServerFault.dropRequest, .refusal(401), .refusal(503)] {
            try await Scenario.run(on: kind) { scenario in
                let a = try scenario.device(settings: .singleAttempt)
                try await a.table.insert(["id": "x"])
                scenario.server.onRequest { _ in fault }
                for _ in 0..<12 { _ = try? await a.context.push() }
                #expect(try await a.operations().map(\.refusals) == [0])
                scenario.server.onRequest(nil)
                #expect(try await a.context.push().completed == 1)
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a missing table fails its own operations, without counting a refusal`(_ kind: StoreKind)
        async throws
    {
        try await Scenario.run(on: kind) { scenario in
            var settings = SyncSettings()
            settings.parkAfterRefusals = 2
            let missing = SyncTableDefinition("Missing", columns: [SyncColumn("text", .text)])
            let a = try scenario.device(settings: settings, tables: [Todo.definition, missing])
            try await a.context.table("Missing").insert(["id": "m"])
            for index in 0..<4 {
                try await a.table.insert(["id": .text("x\(index)")])
                #expect(try await a.expectPushError().code == .tableNotOnServer)
            }
            #expect(try await a.operations().map(\.state) == [.pending])
            #expect(try await a.table.items().count == 4)
            #expect(try scenario.server.rows(in: Todo.name).count == 4)
        }
    }
}
