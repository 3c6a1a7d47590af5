// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import Testing

/// The effect of each fault on the client and on the server's rows.
@Suite(.onEachStorage)
struct FaultTests {
    @Test(arguments: [true, false])
    func `a dropped request is an error for the client and is not applied`(_ keepsOpen: Bool) async throws {
        try await withServer({ $0.keepsConnections = keepsOpen }) { server, client in
            // Clients repeat requests by themselves only on a reused connection.
            _ = try await client.list("TodoItem")
            server.removeRequests()
            server.inject(.dropRequest)
            await #expect(throws: (any Error).self) { try await client.insert(["id": "a"]) }
            #expect(try server.rows(in: "TodoItem").isEmpty)
            #expect(server.requests.map(\.status) == [nil])
            #expect(try await client.insert(["id": "a"]).status == 201)
        }
    }

    @Test(arguments: [true, false])
    func `a dropped response is an error for the client, but the request is applied`(_ keepsOpen: Bool)
        async throws
    {
        try await withServer({ $0.keepsConnections = keepsOpen }) { server, client in
            _ = try await client.list("TodoItem")
            server.removeRequests()
            server.inject(.dropAnswer)
            await #expect(throws: (any Error).self) { try await client.insert(["id": "a", "n": 1]) }
            #expect(try server.rows(in: "TodoItem").map(\.id) == ["a"])
            #expect(server.requests.count == 1)
            #expect(try await client.insert(["id": "a", "n": 1]).status == 409)
        }
    }

    @Test(arguments: [0, 5, 100])
    func `a truncated response is an error for the client, but the request is applied`(_ count: Int)
        async throws
    {
        try await withServer { server, client in
            server.inject(.truncateAnswer(afterBytes: count))
            await #expect(throws: (any Error).self) { try await client.insert(["id": "a", "n": 1]) }
            try #expect(server.rows(in: "TodoItem").map(\.id) == ["a"])
        }
    }

    @Test func `a test can define a response to a request that is not applied`() async throws {
        try await withServer { server, client in
            server.inject(.answer(status: 503, headers: ["Retry-After": "7"], body: Data("busy".utf8)))
            let reply = try await client.insert(["id": "a"])
            #expect(reply.status == 503)
            #expect(reply.headers["retry-after"] == "7")
            #expect(reply.text == "busy")
            #expect(try server.rows(in: "TodoItem").isEmpty)
            #expect(server.requests.map(\.status) == [503])
        }
    }

    @Test func `a test can define the response to a request that is applied`() async throws {
        try await withServer { server, client in
            server.inject(.applyThenAnswer(status: 500))
            try await #expect(client.insert(["id": "a"]).status == 500)
            try #expect(server.rows(in: "TodoItem").map(\.id) == ["a"])
        }
    }

    @Test func `a repeated request is applied twice`() async throws {
        try await withServer { server, client in
            server.inject(.applyTwice, .applyTwiceAnswerFirst)
            #expect(try await client.insert(["id": "a"]).status == 409)
            let patch = try await client.patch("a", ["n": 1])
            #expect(patch["version"] == "Mg==")
            #expect(try server.row("a", in: "TodoItem")?.version == "Mw==")
        }
    }

    @Test func `a held request is applied after its gate opens`() async throws {
        try await withServer { server, client in
            let gate = RequestGate()
            server.inject(.hold(gate))
            async let held = client.insert(["id": "a"])
            await gate.waitForArrivals()
            try #expect(server.rows(in: "TodoItem").isEmpty)
            server.clock.advance(by: .seconds(5))
            gate.open()
            try await #expect(held["updatedAt"] == "2024-05-30T12:00:05.000Z")
        }
    }

    @Test func `a held request can have another fault after its gate opens`() async throws {
        try await withServer { server, client in
            let gate = RequestGate()
            server.inject(.hold(gate, then: .answer(status: 504)))
            async let held = client.insert(["id": "a"])
            await gate.waitForArrivals()
            gate.open()
            try await #expect(held.status == 504)
        }
    }

    @Test func `a test that is cancelled stops waiting at a gate`() async {
        let gate = RequestGate()
        let waiting = Task { await gate.waitForArrivals() }
        waiting.cancel()
        await waiting.value
    }

    @Test func `a late commit adds a row with an earlier time than rows that exist`() async throws {
        try await withServer { server, client in
            let gate = RequestGate()
            server.inject(.commitLate(gate), when: { $0.method == "POST" })
            async let late = client.insert(["id": "late"])
            await gate.waitForArrivals()
            server.clock.advance(by: .seconds(1))
            _ = try await client.insert(["id": "young"])
            #expect(try await client.list("TodoItem", [("$orderby", "updatedAt")]).ids == ["young"])
            gate.open()
            #expect(try await late["updatedAt"] == "2024-05-30T12:00:00.000Z")
            #expect(try await client.list("TodoItem", [("$orderby", "updatedAt")]).ids == ["late", "young"])
        }
    }

    @Test func `faults are used in order, by requests that meet their condition`() async throws {
        try await withServer { server, client in
            server.inject(.answer(status: 500), .answer(status: 503), when: { $0.method == "GET" })
            #expect(try await client.insert(["id": "a"]).status == 201)
            var statuses: [Int] = []
            for _ in 0..<3 { statuses.append(try await client.list("TodoItem").status) }
            #expect(statuses == [500, 503, 200])
        }
    }

    @Test func `a hook returns the fault of each request, and can be removed`() async throws {
        try await withServer { server, client in
            server.onRequest { $0.itemID == "bad" ? .answer(status: 401) : .none }
            try await #expect(client.get("/tables/TodoItem/bad").status == 401)
            try await #expect(client.get("/tables/TodoItem/good").status == 404)
            server.inject(.answer(status: 500))
            server.removeFaults()
            try await #expect(client.get("/tables/TodoItem/bad").status == 404)
        }
    }

    @Test func `the log records each request and the status of its response`() async throws {
        try await withServer { server, client in
            let headers = ["X-ZUMO-FEATURES": "OL", "If-Match": "\"x\""]
            _ = try await client.send("PATCH", "/tables/TodoItem/a%20b?x=1", ["n": 1], headers: headers)
            let request = try #require(server.requests.first)
            #expect(request.id == 1)
            #expect(request.method == "PATCH")
            #expect(request.path == "/tables/TodoItem/a%20b")
            #expect(request.query == "x=1")
            #expect(request.table == "TodoItem")
            #expect(request.itemID == "a b")
            #expect(request.header("x-zumo-features") == "OL")
            #expect(request.header("if-match") == "\"x\"")
            #expect(request.body == Data("{\"n\":1}".utf8))
            #expect(request.status == 404)
            server.removeRequests()
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a server that does not record requests keeps none, and faults still work`() async throws {
        try await withServer({ $0.recordsRequests = false }) { server, client in
            server.inject(.answer(status: 503))
            try await #expect(client.list("TodoItem").status == 503)
            try await #expect(client.list("TodoItem").status == 200)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a condition can inject another fault`() async throws {
        try await withServer { server, client in
            server.inject(
                .answer(status: 500),
                when: { request in
                    if request.parameter("first") != nil { server.inject(.answer(status: 503)) }
                    return request.parameter("first") == nil
                })
            var statuses: [Int] = []
            for query in ["?first=1", "", "", ""] {
                statuses.append(try await client.get("/tables/TodoItem\(query)").status)
            }
            #expect(statuses == [200, 500, 503, 200])
        }
    }
}
