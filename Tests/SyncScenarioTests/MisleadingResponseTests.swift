// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// Responses that look like those about a row, and are not, or say less than the server knows.
@Suite struct MisleadingResponseTests {
    /// The response of a gateway without a route to the server.
    private static let noRoute = ServerFault.answer(
        status: 404, headers: ["Content-Type": "application/json"], body: Data("{}".utf8))

    /// Pushes a deletion and an edit while a gateway answers all requests, then without it.
    ///
    /// - Parameter push: pushes behind the gateway.
    private func runBehindGateway(
        status: Int, _ body: String, _ push: (Device) async throws -> Void
    ) async throws {
        let settings = SyncSettings.resolving(.fieldMerge(onClash: .serverWins))
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings)
            for id in ["x", "y"] { try await scenario.server.put(id, ["text": "old"], in: Todo.name) }
            try await a.sync()
            try await a.table.delete(id: "x")
            try await a.table.update(id: "y", ["text": "new"])
            scenario.server.onRequest { _ in
                .answer(
                    status: status, headers: ["Content-Type": "application/json"], body: Data(body.utf8))
            }
            try await push(a)
            #expect(try await a.operations().map(\.kind) == [.delete, .update])
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["new"])
            try await scenario.expectAgreement(a)
        }
    }

    /// A gateway without a route to the server.
    @Test(arguments: ["", #"{"message":"no Route matched with those values"}"#])
    func `a 404 of a gateway completes no delete, and removes no item`(_ body: String) async throws {
        try await runBehindGateway(status: 404, body) { a in
            let errors = await a.expectPushErrors()
            #expect(errors.map(\.code) == [.tableNotOnServer, .tableNotOnServer])
        }
    }

    /// A gateway whose route to the server has been removed.
    @Test(arguments: ["", #"{"message":"gone"}"#])
    func `a 410 of a gateway completes no delete, and removes no item`(_ body: String) async throws {
        try await runBehindGateway(status: 410, body) { a in
            await #expect(throws: SyncError.self) { try await a.context.push() }
            let texts = try await a.texts()
            #expect(texts == ["new"])
        }
    }

    @Test func `a 410 of a server without the row completes a delete`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            try await a.table.delete(id: "x")
            scenario.server.onRequest { $0.itemID == nil ? .none : .refusal(410) }
            #expect(try await a.context.push().completed == 1)
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a 404 of a gateway does not show that an insert was never applied`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "one"])
            scenario.server.inject(
                .applyThenAnswer(
                    status: 500, headers: ["Content-Type": "application/json"], body: Data("{}".utf8)),
                when: \.isWrite)
            _ = await a.pushErrors()
            try await a.table.update(id: "x", ["text": "two"])
            scenario.server.onRequest { _ in Self.noRoute }
            _ = await a.pushErrors()
            scenario.server.onRequest(nil)
            try await a.table.delete(id: "x")
            try await a.sync()
            #expect(try scenario.row("x")?.deleted == true)
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a 404 of a gateway does not show that a row in conflict is gone`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            // Later pulls do not read these times again.
            let now = SyncEnvironment.live.now()
            func time(_ seconds: Int) -> Timestamp { now.advanced(by: .seconds(seconds)) }
            try await scenario.server.put("x", ["text": "one"], in: Todo.name, updatedAt: time(-20))
            try await a.sync()
            try await a.table.update(id: "x", ["text": "mine"])
            try await scenario.server.remove("x", in: Todo.name, leavingTombstone: false)
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name, updatedAt: time(-10))
            #expect(try await a.expectPushError().serverItem?["text"] == "theirs")
            try await a.pullWithoutPush()
            scenario.server.onRequest { $0.method == "GET" ? Self.noRoute : .none }
            let error = try await a.expectPushError()
            scenario.server.onRequest(nil)
            try await a.context.cancelAndDiscardItem(for: error)
            try await a.sync()
            #expect(try await a.texts() == ["theirs"])
        }
    }

    @Test(arguments: [ConflictResolver.serverWins, .deleteWins(otherwise: .serverWins)], [409, 412])
    func `a resolver does not remove an inserted item that the server refuses without a row`(
        _ resolver: ConflictResolver, _ status: Int
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(resolver))
            try await a.table.insert(["id": "x", "text": "ann@example.org"])
            scenario.server.onRequest { $0.isWrite ? .refusal(status, "the address is in use") : .none }
            let error = try await a.expectPushError()
            #expect(error.code == (status == 409 ? .itemAlreadyOnServer : .preconditionFailed))
            #expect(error.serverItem == nil)
            #expect(error.message.contains("the address is in use"))
            try await a.table.update(id: "x", ["text": "bob@example.org"])
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["bob@example.org"])
            try await scenario.expectAgreement(a)
        }
    }

    /// The server applies each write, and shows only the id.
    @Test func `edits after responses without a version are no conflicts`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            scenario.server.onRequest { request in
                request.isWrite
                    ? .applyThenAnswer(
                        status: 200, headers: ["Content-Type": "application/json"],
                        body: Data(#"{"id":"x"}"#.utf8)) : .none
            }
            try await a.table.insert(["id": "x", "text": "one"])
            try await a.context.push()
            for text in ["two", "three"] {
                try await a.table.update(id: "x", ["text": .text(text)])
                try await a.context.push()
                #expect(try scenario.serverTexts() == [text])
            }
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "mine"])
            #expect(try await a.expectPushError().serverItem?["text"] == "theirs")
        }
    }

    /// The server ignores the id in the request, or changes its case.
    @Test(arguments: [201, 409])
    func `an insert that is stored under another id is parked the second time, and does not stop pulls`(
        _ status: Int
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            for id in ["A", "B", "C"] { try await a.table.insert(["id": .text(id), "text": "new"]) }
            scenario.server.onRequest { request in
                guard request.itemID != nil || request.isWrite else { return .none }
                return .answer(
                    status: request.isWrite ? status : 200, headers: ["Content-Type": "application/json"],
                    body: Data(#"{"id":"other","version":"1","text":"new"}"#.utf8))
            }
            for _ in 0..<2 {
                #expect(try await a.operations().allSatisfy { $0.state != .parked })
                let errors = await a.expectPushErrors()
                #expect(errors.count == 3 && errors.allSatisfy { $0.message.contains("'other'") })
            }
            #expect(try await a.operations().allSatisfy { $0.state == .parked })
            try await scenario.server.put("z", ["text": "theirs"], in: Todo.name)
            try await a.context.pull(Todo.query)
            #expect(try await a.item("z") != nil)
        }
    }

    /// A proxy can refuse a change because of its size, and a server can refuse it without a word.
    @Test(arguments: [
        ServerFault.webPage(413), .webPage(403), .answer(status: 403, headers: [:], body: Data()),
    ])
    func `rows are pulled while a proxy refuses a change`(_ refusal: ServerFault) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "too large"])
            try await scenario.server.put("z", ["text": "theirs"], in: Todo.name)
            scenario.server.onRequest { $0.isWrite ? refusal : .none }
            await expectError(.pushAbortedService) { try await a.context.pull(Todo.query) }
            #expect(try await a.texts() == ["theirs", "too large"])
            #expect(try await a.context.status().lastError?.code == .pushAbortedService)
            // A page that answers each request is not from a server that has refused one.
            scenario.server.onRequest { _ in refusal }
            await expectError(.pushAbortedService) { try await a.context.pull(Todo.query) }
        }
    }

    @Test func `rows are pulled while the server fails for all changes`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id), "text": "poison"]) }
            try await scenario.server.put("z", ["text": "theirs"], in: Todo.name)
            scenario.server.onRequest { $0.isWrite ? .refusal(500) : .none }
            for _ in 0..<2 {
                let error = await expectError(.pushAbortedService) { try await a.context.pull(Todo.query) }
                #expect(error?.pushResult?.errors.map(\.status) == [500, 500, 500])
            }
            #expect(try await a.texts() == ["poison", "poison", "poison", "theirs"])
            scenario.server.onRequest { _ in .refusal(500) }
            let error = await expectError(.pushAbortedService) { try await a.context.pull(Todo.query) }
            #expect(error?.pushResult?.errors.count == 3)
            #expect(try await a.operations().allSatisfy { $0.state != .parked })
        }
    }

    /// The quota of a gateway is used up.
    @Test func `a 403 that asks to wait parks no operation`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            var settings = SyncSettings.singleAttempt
            settings.parkAfterRefusals = 1
            let a = try scenario.device(settings: settings)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.onRequest { _ in
                .answer(
                    status: 403, headers: ["Content-Type": "application/json", "Retry-After": "1200"],
                    body: Data(#"{"statusCode":403,"message":"Out of call volume quota."}"#.utf8))
            }
            let error = await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(error?.retryAfter == .seconds(1200))
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.serverTexts() == ["ours"])
        }
    }

    /// Some servers repeat the request in a conflict, and tag each response.
    @Test func `the tag of an error that repeats the request is no version of the row`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.insert(["id": "x", "text": "ours"])
            scenario.server.onRequest { request in
                request.isWrite
                    ? .answer(
                        status: 409, headers: ["Content-Type": "application/json", "ETag": #""5d-abc""#],
                        body: request.body) : .none
            }
            let error = try await a.expectPushError()
            #expect(error.code == .itemAlreadyOnServer && error.serverItem?["text"] == "theirs")
            #expect(try await a.operations().count == 1)
        }
    }

    /// The change that a proxy has refused is still in the queue.
    @Test(arguments: [503, 511])
    func `rows are not pulled when the service is unavailable after a proxy has refused a change`(
        _ status: Int
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "x", "text": "too large"])
            scenario.server.onRequest { $0.isWrite ? .webPage(413) : .none }
            await expectError(.pushAbortedService) { try await a.context.push() }
            try await a.table.insert(["id": "y", "text": "small"])
            scenario.server.removeRequests()
            scenario.server.onRequest { $0.isWrite ? .refusal(status) : .none }
            await expectError(.pushAbortedService) { try await a.context.pull(Todo.query) }
            #expect(!scenario.server.requests.contains { $0.method == "GET" })
        }
    }

    /// The user may see the row, and not change it.
    @Test(arguments: [false, true])
    func `a 404 for a row that the server shows completes no delete, and removes no item`(
        _ refusesLists: Bool
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            for id in ["x", "y"] { try await scenario.server.put(id, ["text": .text(id)], in: Todo.name) }
            try await a.sync()
            scenario.server.onRequest { request in
                request.isWrite
                    ? .refusal(404, "no such row") : refusesLists && request.isPage ? .refusal(403) : .none
            }
            try await a.table.delete(id: "x")
            try await a.table.update(id: "y", ["text": "ours"])
            let errors = await a.expectPushErrors()
            #expect(errors.map(\.status) == [404, 404])
            #expect(errors.allSatisfy { !$0.isConflict && $0.message.contains("no such row") })
            #expect(try await a.texts() == ["ours"])
            #expect(try await a.operations().count == 2)
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["ours"])
            try await scenario.expectAgreement(a)
        }
    }

    /// A cache can return an earlier list.
    @Test func `a 404 completes no delete if only a list shows an earlier tombstone`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            let former = #"{"id":"x","deleted":true,"updatedAt":"2001-01-01T00:00:00.000Z","version":"B"}"#
            scenario.server.onRequest { request in
                request.isWrite
                    ? .refusal(404, "not permitted")
                    : request.isPage ? .answer(status: 200, body: Data("[\(former)]".utf8)) : .none
            }
            #expect(try await a.expectPushError().status == 404)
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.serverTexts().isEmpty)
        }
    }

    @Test func `a 404 completes no delete if the server shows the row with an earlier time`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await scenario.server.put("x", ["text": "old"], in: Todo.name)
            try await a.sync()
            try await a.table.delete(id: "x")
            let row = #"{"id":"x","text":"theirs","updatedAt":"2001-01-01T00:00:00.000Z","version":"B"}"#
            scenario.server.onRequest { request in
                request.isWrite
                    ? .refusal(404, "not permitted")
                    : .answer(status: 200, body: Data((request.itemID == nil ? "[\(row)]" : row).utf8))
            }
            let error = try await a.expectPushError()
            #expect(!error.isConflict && error.status == 404)
            #expect(try await a.operations().map(\.kind) == [.delete])
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.serverTexts().isEmpty)
        }
    }

    @Test func `a 404 that a gateway does not let verify completes no delete`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            for id in ["x", "y"] { try await scenario.server.put(id, ["text": .text(id)], in: Todo.name) }
            try await a.sync()
            scenario.server.onRequest { $0.isWrite ? .refusal(404, "no such row") : .refusal(400) }
            try await a.table.delete(id: "x")
            try await a.table.update(id: "y", ["text": "ours"])
            #expect(await a.expectPushErrors().map(\.isConflict) == [false, false])
            #expect(try await a.texts() == ["ours"])
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try scenario.serverTexts() == ["ours"])
            try await scenario.expectAgreement(a)
        }
    }

    /// Nothing shows whether the server has the row.
    @Test func `a row whose 404 the server does not let verify is pulled again if it exists`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .resolving(.serverWins))
            for id in ["x", "y"] { try await scenario.server.put(id, ["text": .text(id)], in: Todo.name) }
            scenario.server.clock.advance(by: .seconds(10))
            try await a.sync()
            scenario.server.onRequest { $0.isWrite ? .refusal(404, "no such row") : .refusal(403) }
            try await a.table.delete(id: "x")
            try await a.table.update(id: "y", ["text": "ours"])
            try await a.context.push()
            #expect(try await a.texts().isEmpty)
            scenario.server.onRequest(nil)
            try await a.sync()
            #expect(try await a.texts() == ["x", "y"])
            try await scenario.expectAgreement(a)
        }
    }
}
