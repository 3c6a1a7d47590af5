// Part of swift-sync-context.
// SPDX-License-Identifier: Apache-2.0

import Foundation
import SyncCore
import TableServer
import TestSupport
import Testing

struct ServerClockTests {
    @Test(arguments: [
        (Duration.zero, "2024-05-30T12:00:00.000000000Z"),
        (.nanoseconds(1), "2024-05-30T12:00:00.000000001Z"),
        (.milliseconds(-1), "2024-05-30T11:59:59.999000000Z"),
        (.seconds(86_400), "2024-05-31T12:00:00.000000000Z"),
    ])
    func `a stopped clock changes only when it is advanced`(_ duration: Duration, _ text: String) {
        let clock = ServerClock.standing(at: .noon)
        clock.advance(by: duration)
        #expect(clock.now.description == text)
        #expect(clock.now == clock.now)
    }

    @Test func `several advances add up`() {
        let clock = ServerClock.standing(at: .noon)
        clock.advance(by: .seconds(2))
        clock.advance(by: .seconds(-1))
        #expect(clock.now.description == "2024-05-30T12:00:01.000000000Z")
    }

    @Test func `every response has the clock's time in its Date header`() async throws {
        try await withServer { server, client in
            let first = try await client.send("GET", "/tables/TodoItem")
            #expect(first.headers["date"] == "Thu, 30 May 2024 12:00:00 GMT")
            server.clock.advance(by: .seconds(1.5))
            let second = try await client.send("GET", "/nowhere")
            #expect(second.headers["date"] == "Thu, 30 May 2024 12:00:01 GMT")
        }
    }

    @Test(.onEachStorage) func `the Date of a response is not after the moment at which its rows were read`()
        async throws
    {
        let clock = ServerClock.standing(at: .noon)
        try await withServer({
            $0.clock = clock
            // Time that passes while the server handles the request.
            $0.makeID = {
                clock.advance(by: .seconds(10))
                return "a"
            }
        }) { server, client in
            let reply = try await client.insert(["text": "x"])
            #expect(reply.status == 201)
            #expect(reply.headers["date"] == "Thu, 30 May 2024 12:00:00 GMT")
            try await #expect(client.list("TodoItem").headers["date"] == "Thu, 30 May 2024 12:00:10 GMT")
        }
    }

    @Test func `the system's clock runs and can be advanced`() {
        let clock = ServerClock.system()
        let start = clock.now
        #expect(!clock.now.isEarlier(than: start))
        clock.advance(by: .seconds(3600))
        #expect(clock.now.seconds >= start.seconds + 3599)
    }

    @Test func `the time of a change is never earlier than that of an earlier change of the table`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let file = directory.appending(path: "rows.sqlite").path
            try await withServer({ $0.storage = .file(file) }) { server, client in
                _ = try await client.insert(["id": "a"])
                server.clock.advance(by: .seconds(-60))
                try await #expect(client.insert(["id": "b"])["updatedAt"] == "2024-05-30T12:00:00.000Z")
                try await #expect(client.delete("a")["updatedAt"] == "2024-05-30T12:00:00.000Z")
                server.clock.advance(by: .seconds(61))
                try await #expect(client.insert(["id": "c"])["updatedAt"] == "2024-05-30T12:00:01.000Z")
            }
            // Also when the row with the latest time is gone, and after a restart.
            try await withServer({ $0.storage = .file(file) }) { server, client in
                try await server.remove("c", in: "TodoItem", leavingTombstone: false)
                try await #expect(client.insert(["id": "d"])["updatedAt"] == "2024-05-30T12:00:01.001Z")
            }
        }
    }

    @Test(.onEachStorage) func `each change has a later time than the one before, also within a millisecond`()
        async throws
    {
        try await withServer({ $0.clock = .running(at: .noon) }) { server, client in
            func time(_ reply: TestClient.Reply) -> String? { reply["updatedAt"]?.textValue }
            try await #expect(time(client.insert(["id": "b"])) == "2024-05-30T12:00:00.000Z")
            try await #expect(time(client.insert(["id": "a"])) == "2024-05-30T12:00:00.001Z")
            // The changes of one transaction have the same time.
            try await server.put([("c", [:]), ("d", [:])], in: "TodoItem")
            let times = try server.rows(in: "TodoItem").map(\.updatedAt.description)
            #expect(times.suffix(2) == ["2024-05-30T12:00:00.002Z", "2024-05-30T12:00:00.002Z"])
            server.clock.advance(by: .seconds(-60))
            try await #expect(time(client.delete("b")) == "2024-05-30T12:00:00.003Z")
            server.clock.advance(by: .seconds(61))
            try await #expect(time(client.delete("a")) == "2024-05-30T12:00:01.000Z")
        }
    }
}
