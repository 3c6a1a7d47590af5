// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import Synchronization
import TableServer
import TestSupport
import Testing

/// Failing operations do not block the rest of the queue.
@Suite struct QueueProgressTests {
    private func settings(parkAfter limit: Int = 10) -> SyncSettings {
        var settings = SyncSettings.singleAttempt
        settings.parkAfterRefusals = limit
        return settings
    }

    private static func plainText(_ status: Int) -> ServerFault {
        .answer(status: status, headers: ["Content-Type": "text/plain"], body: Data("Too large".utf8))
    }

    @Test(arguments: [400, 413])
    func `operations refused with a plain text 4xx do not block the queue`(_ status: Int)
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings())
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id), "text": "poison"]) }
            try await a.table.insert(["id": "4", "text": "healthy"])
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison")
                    ? Self.plainText(status) : .none
            }
            for _ in 0..<5 { _ = try? await a.context.push() }
            #expect(try scenario.row("4") != nil)
        }
    }

    /// The page does not come from the tables service, and ends the push.
    @Test(arguments: [403, 413])
    func `operations that a proxy refuses with a web page do not block the queue`(_ status: Int) async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings())
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id), "text": "poison"]) }
            try await a.table.insert(["id": "4", "text": "healthy"])
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison")
                    ? .webPage(status) : .none
            }
            for _ in 0..<3 { await expectError(.pushAbortedService) { try await a.context.push() } }
            #expect(try scenario.row("4") == nil)
            await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(try scenario.row("4") != nil)
            #expect(try await a.context.operationErrors().isEmpty)
            scenario.server.onRequest(nil)
            try await a.context.push()
            try await scenario.expectAgreement(a)
        }
    }

    /// Some frameworks answer an error of their own without a body.
    @Test func `an operation for which the server fails without a body does not block the queue`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings())
            for id in ["1", "2"] {
                try await a.table.insert(["id": .text(id), "text": id == "1" ? "poison" : "healthy"])
            }
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison")
                    ? .answer(status: 500, headers: [:], body: Data()) : .none
            }
            await expectError(.pushAbortedService) { try await a.context.push() }
            try await scenario.server.put("z", ["text": "theirs"], in: Todo.name)
            await expectError(.pushAbortedService) { try await a.context.pull(Todo.query) }
            #expect(try scenario.row("2") != nil)
            #expect(try await a.texts() == ["healthy", "poison", "theirs"])
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    /// The operations that a proxy refuses are sent last of all, also by a context that has sent none of them.
    /// A proxy can cut off bodies of some size, and a server can work at a row for too long.
    @Test(arguments: [ServerFault.dropRequest, .dropAnswer, .truncateAnswer(afterBytes: 0), .refusal(504)])
    func `operations whose requests are never answered do not block the queue or pulls`(
        _ fault: ServerFault
    ) async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            for id in ["1", "2"] { try await a.table.insert(["id": .text(id), "text": "poison"]) }
            try await a.table.insert(["id": "3", "text": "healthy"])
            try await scenario.server.put("theirs", ["text": "theirs"], in: Todo.name)
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison") ? fault : .none
            }
            for _ in 0..<3 { _ = try? await a.context.push() }
            #expect(try scenario.row("3") == nil)
            for _ in 0..<2 { _ = try? await a.context.push() }
            #expect(try scenario.row("3") != nil)
            try await a.table.insert(["id": "4", "text": "healthy"])
            #expect(try await a.context.plannedRequests().map(\.itemID) == ["4", "1", "2"])
            _ = try? await a.context.pull(Todo.query, queryID: "all")
            #expect(try scenario.row("4") != nil)
            #expect(try await a.item("theirs") != nil)
            #expect(try await a.operations().map(\.itemID) == ["1", "2"])
            scenario.server.onRequest(nil)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test(arguments: [ServerFault.dropRequest, .dropAnswer])
    func `an operation without an answer is sent as the user has corrected it`(_ fault: ServerFault)
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let uptime = Mutex(Duration.zero)
            func advance(by seconds: Int) { uptime.withLock { $0 += .seconds(seconds) } }
            let a = try scenario.device(settings: settings()) { $0.uptime = { uptime.withLock(\.self) } }
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "x", ["text": "too long"])
            try await a.table.insert(["id": "y", "text": "too long"])
            try await a.table.insert(["id": "z", "text": "healthy"])
            let sent = Mutex([String]())
            scenario.server.onRequest { request in
                let body = String(decoding: request.body, as: UTF8.self)
                if let text = ["too long too", "too long", "short"].first(where: body.contains) {
                    sent.withLock { $0.append(text) }
                }
                return body.contains("too long") ? fault : .none
            }
            for _ in 0..<5 { _ = try? await a.context.push() }
            #expect(try scenario.row("z") != nil)
            for id in ["x", "y"] { try await a.table.update(id: id, ["text": "too long too"]) }
            try await a.table.insert(["id": "w", "text": "healthy"])
            advance(by: 200)
            await #expect(throws: SyncError.self) { try await a.context.push() }
            #expect(sent.withLock { $0.contains("too long too") })
            for id in ["x", "y"] { try await a.table.update(id: id, ["text": "short"]) }
            func planned() async throws -> [ItemValue?] {
                try await a.context.plannedRequests().map { $0.fields["text"] }
            }
            #expect(try await planned() == ["short", "short"])
            #expect(try scenario.row("w") != nil)
            // The last requests may still arrive. Pushes until then send neither the former items nor the corrected ones.
            let count = sent.withLock(\.count)
            for _ in 0..<2 {
                advance(by: 50)
                let error = await #expect(throws: SyncError.self) { try await a.context.push() }
                #expect(error?.code == .pushAbortedNetwork)
            }
            #expect(sent.withLock(\.count) == count)
            advance(by: 50)
            try await a.context.push()
            #expect(try await a.operations().isEmpty)
            for id in ["x", "y"] { #expect(try scenario.row(id)?.fields["text"] == "short") }
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `a conflict of a corrected operation is reported by each push`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let uptime = Mutex(Duration.zero)
            let a = try scenario.device(settings: settings()) { $0.uptime = { uptime.withLock(\.self) } }
            try await a.table.insert(["id": "x", "text": "too long"])
            try await a.table.insert(["id": "z", "text": "healthy"])
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("too long") ? .dropRequest : .none
            }
            for _ in 0..<5 { _ = try? await a.context.push() }
            try await scenario.server.put("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "short"])
            uptime.withLock { $0 += .seconds(200) }
            for _ in 0..<2 {
                // Each of them fetches the row, which is no request that could still arrive.
                #expect(try await a.expectPushError().code == .itemAlreadyOnServer)
            }
        }
    }

    @Test func `many operations without answers do not block the queue of an app that never pulls`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id), "text": "poison"]) }
            try await a.table.insert(["id": "4", "text": "healthy"])
            scenario.server.onRequest { request in
                String(decoding: request.body, as: UTF8.self).contains("poison") ? .dropRequest : .none
            }
            for _ in 0..<40 { _ = try? await a.context.push() }
            #expect(try scenario.row("4") != nil)
            #expect(try await a.operations().map(\.itemID) == ["1", "2", "3"])
        }
    }

    @Test func `a network without a connection changes no order, and is the error of a pull`() async throws {
        let transport = SwitchedTransport()
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt, transport: transport)
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id)]) }
            for _ in 0..<4 { await expectError(.pushAbortedNetwork) { try await a.sync() } }
            await expectError(.pushAbortedNetwork) { try await a.context.pull(Todo.query, queryID: "all") }
            transport.isConnected.withLock { $0 = true }
            try await a.sync()
            let sent = scenario.writes().map { String(decoding: $0.body, as: UTF8.self) }
            #expect(sent == ["1", "2", "3"].map { #"{"id":"\#($0)"}"# })
        }
    }

    @Test func `an outage changes no order`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id)]) }
            scenario.server.onRequest { _ in .dropRequest }
            for _ in 0..<6 { _ = try? await a.sync() }
            scenario.server.onRequest(nil)
            scenario.server.removeRequests()
            try await a.sync()
            let sent = scenario.writes().map { String(decoding: $0.body, as: UTF8.self) }
            #expect(sent == ["1", "2", "3"].map { #"{"id":"\#($0)"}"# })
        }
    }

    @Test func `a pull after pushes without an answer fails with their error when it gets none either`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: .singleAttempt)
            try await a.table.insert(["id": "1"])
            scenario.server.onRequest { _ in .dropRequest }
            for _ in 0..<4 {
                await expectError(.pushAbortedNetwork) {
                    try await a.context.pull(Todo.query, queryID: "all")
                }
            }
        }
    }

    @Test func `a parent that a proxy refuses does not keep failed children from being sent`() async throws {
        let list = SyncTableDefinition("List", columns: [SyncColumn("text", .text)])
        let item = SyncTableDefinition(
            "Item", columns: [SyncColumn("text", .text), SyncColumn("list", .text)], parents: ["List"])
        try await Scenario.run(on: .sqlite) {
            $0.tables += [.init("List"), .init("Item")]
        } _: { scenario in
            let a = try scenario.device(settings: settings(), tables: [list, item])
            try await a.context.table("Item").insert(["id": "i"])
            scenario.server.inject(.refusal(500))
            _ = await a.expectPushErrors()
            try await a.context.table("List").insert(["id": "l", "text": "poison"])
            scenario.server.onRequest { $0.table == "List" ? .webPage(413) : .none }
            await expectError(.pushAbortedService) { try await a.context.push() }
            #expect(try scenario.server.row("i", in: "Item") == nil)
            try await a.context.close()
            let b = try scenario.device(settings: settings(), tables: [list, item])
            await expectError(.pushAbortedService) { try await b.context.push() }
            #expect(try scenario.server.row("i", in: "Item") != nil)
            scenario.server.onRequest(nil)
            try await b.context.push()
            #expect(try await b.operations().isEmpty)
            try await b.context.close()
        }
    }

    @Test func `inserts whose proof the server refuses do not block the queue`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings())
            for id in ["1", "2", "3"] { try await a.table.insert(["id": .text(id), "text": "poison"]) }
            try await a.table.insert(["id": "4", "text": "healthy"])
            scenario.server.onRequest { request in
                if request.method == "GET" { return .refusal(403) }
                return String(decoding: request.body, as: UTF8.self).contains("poison")
                    ? .refusal(409) : .none
            }
            for _ in 0..<5 { _ = try? await a.context.push() }
            #expect(try scenario.row("4") != nil)
        }
    }

    @Test func `a conflict does not use up the budget of later pushes`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings())
            try await scenario.server.put("x", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await scenario.server.update("x", ["text": "theirs"], in: Todo.name)
            try await a.table.update(id: "x", ["text": "mine"])
            try await a.table.insert(["id": "y", "text": "healthy"])
            for _ in 0..<5 { _ = try? await a.context.push(budget: PushBudget(operations: 1)) }
            #expect(try scenario.row("y") != nil)
        }
    }

    /// Only a successful write of the same push counts, not an operation that needed no request.
    @Test func `a server error does not count as a refusal when the only other operation needed no request`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings(parkAfter: 1))
            try await scenario.server.put("y", ["text": "one"], in: Todo.name)
            try await a.sync()
            try await a.table.update(id: "y", ["text": "two"])
            try await a.table.update(id: "y", ["text": "one"])
            try await a.table.insert(["id": "x", "text": "other"])
            scenario.server.onRequest { $0.isWrite ? .refusal(500) : .none }
            _ = try? await a.context.push()
            #expect(try await a.operations().map(\.state) == [.attempted])
            scenario.server.onRequest(nil)
            try await a.context.push()
            #expect(try scenario.row("x") != nil)
        }
    }

    /// Puts rows with old timestamps, so that no later pull reads the timestamp of the first one again.
    private func putOldRows(_ scenario: Scenario) async throws {
        let now = SyncEnvironment.live.now()
        try await scenario.server.put(
            "x", ["text": "theirs"], in: Todo.name, updatedAt: now.advanced(by: .seconds(-7200)))
        try await scenario.server.put(
            "z", ["text": "later"], in: Todo.name, updatedAt: now.advanced(by: .seconds(-3600)))
    }

    /// The app chose an id that another device also uses.
    @Test func `deleting an unsent insert shows the server's row with the same id`() async throws {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device()
            try await a.table.insert(["id": "x", "text": "mine"])
            try await putOldRows(scenario)
            try await a.pullWithoutPush()
            try await a.table.delete(id: "x")
            #expect(try await a.operations().isEmpty)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }

    @Test func `removing a refused insert and the delete behind it shows the server's row`()
        async throws
    {
        try await Scenario.run(on: .memory) { scenario in
            let a = try scenario.device(settings: settings())
            try await a.table.insert(["id": "x", "text": "mine"])
            _ = try await scenario.push(a, then: .refusal(400)) { _ in
                try await putOldRows(scenario)
                try await a.pullWithoutPush()
                try await a.table.delete(id: "x")
            }
            #expect(try await a.operations().isEmpty)
            try await a.sync()
            try await scenario.expectAgreement(a)
        }
    }
}

/// A transport without a connection, until it is connected.
private final class SwitchedTransport: HTTPTransport {
    let isConnected = Mutex(false)

    func send(_ request: HTTPTransportRequest) async throws -> HTTPTransportResponse {
        guard isConnected.withLock(\.self) else {
            throw NetworkFailure(.unreachable, host: "server.example", port: 443)
        }
        return try await URLSessionTransport.patient.send(request)
    }
}
